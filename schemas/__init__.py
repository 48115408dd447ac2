"""Schemas: what the processors say to each other."""
