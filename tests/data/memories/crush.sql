-- A database of Crush, after its schema and the reader of vshulcz/deja-vu.
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, updated_at INTEGER, created_at INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts BLOB NOT NULL DEFAULT '[]', created_at INTEGER, is_summary_message INTEGER DEFAULT 0);
INSERT INTO sessions VALUES ('s1', NULL, 'Why is there no total', 1795532009, 1795532000);
INSERT INTO sessions VALUES ('s2', 's1', 'Aside', 1795532009, 1795532001);
INSERT INTO messages VALUES ('m0', 's1', 'user', '[{"type": "text", "data": {"text": "Why is there no total yet? Add one."}}]', 1795532000, 0);
INSERT INTO messages VALUES ('m1', 's1', 'assistant', '[{"type": "tool_call", "data": {"id": "1", "name": "write", "input": "{\"file_path\": \"total.py\"}", "finished": true}}]', 1795532001, 0);
INSERT INTO messages VALUES ('m2', 's1', 'tool', '[{"type": "tool_result", "data": {"tool_call_id": "1", "content": "written", "is_error": false}}]', 1795532002, 0);
INSERT INTO messages VALUES ('m3', 's1', 'assistant', '[{"type": "tool_call", "data": {"id": "2", "name": "bash", "input": "{\"command\": \"make\"}", "finished": true}}]', 1795532003, 0);
INSERT INTO messages VALUES ('m4', 's1', 'tool', '[{"type": "tool_result", "data": {"tool_call_id": "2", "content": "ModuleNotFoundError: No module named ''nothere''\nExit code 1\n\n<cwd>/tmp/demo/quarry</cwd>", "is_error": false}}]', 1795532004, 0);
INSERT INTO messages VALUES ('m5', 's1', 'assistant', '[{"type": "text", "data": {"text": "The total sums all rows."}}, {"type": "finish", "data": {"reason": "end_turn"}}]', 1795532005, 0);
INSERT INTO messages VALUES ('m7', 's1', 'assistant', '[{"type": "text", "data": {"text": "A summary."}}]', 1795532008, 1);
INSERT INTO messages VALUES ('m8', 's2', 'user', '[]', 1795532009, 0);
