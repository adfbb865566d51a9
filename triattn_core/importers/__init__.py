"""What was made elsewhere as traces: files of arrays, and models of Hugging Face."""
