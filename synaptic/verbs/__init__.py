"""The actions that users ask for: save, update, delete, restore, get, find, recent and doctor.

`saving`, `changing`, `removing` and `browse` are where to begin. Most functions take a
`Workspace` and return a value of `models`; none of them prints.
"""
