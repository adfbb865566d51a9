"""The first screen: a cube whose one dark cell moves with the language, beside two-way attention."""
