"""core.db"""
