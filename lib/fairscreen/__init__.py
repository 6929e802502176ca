"""fairscreen: statistics-grade audits of AI resume screeners, at population scale, on Spark."""

__version__ = "0.4.0"
