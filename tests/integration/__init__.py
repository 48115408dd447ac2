"""Tests that meet real servers: the embedded stack, or Apache Kafka in place of its broker."""
