"""core.memory"""
