"""What pages share: the only other code that imports streamlit."""
