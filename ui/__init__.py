"""The browser app: a thin face over `musicgen.pipeline`, in Streamlit."""
