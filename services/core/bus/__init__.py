"""core.bus"""
