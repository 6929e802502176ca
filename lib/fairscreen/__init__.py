"""fairscreen: statistics-grade audits of AI resume screeners, at population scale, on Spark."""

__version__ = "0.5.0"
