"""The guidebook as a static site: pages filled from observations, built by mkdocs-material."""
