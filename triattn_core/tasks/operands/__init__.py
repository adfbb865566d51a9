"""Which two numbers make this one?  Steps of word problems, read from GSM8K's own file or typed in."""
