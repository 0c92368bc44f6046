"""Takes in what other programs have written: sessions, memories, diaries, exports.

`import_runs` plans, runs and undoes an import; `readers/` reads the files of each program.
"""
