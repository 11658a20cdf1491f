"""The app's pages; a folder called `pages` would be listed by Streamlit itself."""
