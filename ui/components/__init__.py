"""The app's own browser components: plain JavaScript, no build step."""
