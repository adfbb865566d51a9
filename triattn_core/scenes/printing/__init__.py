"""Figures on paper and pictures of figures: what a scene draws, as PDF, SVG and PNG without a browser."""
