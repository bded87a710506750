"""Reports on runs: a self-contained HTML page, the same in Markdown, figures and data tables."""
