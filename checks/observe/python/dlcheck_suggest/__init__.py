"""Changes of a program's source that would mend a finding, for those whose repair is mechanical. Reads source as
text and syntax tree; runs and writes nothing.
"""
