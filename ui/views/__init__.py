"""The app's pages. (Not called `pages`: Streamlit would list such a folder by itself.)"""
