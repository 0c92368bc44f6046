CREATE TABLE sdk_sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        content_session_id TEXT NOT NULL,
        memory_session_id TEXT UNIQUE,
        project TEXT NOT NULL,
        platform_source TEXT NOT NULL DEFAULT 'claude',
        user_prompt TEXT,
        started_at TEXT NOT NULL,
        started_at_epoch INTEGER NOT NULL,
        completed_at TEXT,
        completed_at_epoch INTEGER,
        status TEXT CHECK(status IN ('active', 'completed', 'failed')) NOT NULL DEFAULT 'active'
      , worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT, observed_model TEXT, observed_billing TEXT);
INSERT INTO sdk_sessions VALUES (1, 'c0ffee00-0000-4000-8000-000000000001', 'memory-1', 'ledger', 'claude', 'Why do the totals differ by a cent?', '2026-11-22T20:13:57.424Z', 1795378437424, NULL, NULL, 'active', NULL, 0, NULL, NULL, NULL);
CREATE TABLE "user_prompts" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_db_id INTEGER,
        content_session_id TEXT NOT NULL,
        prompt_number INTEGER NOT NULL,
        prompt_text TEXT NOT NULL,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE
      );
INSERT INTO user_prompts VALUES (1, 1, 'c0ffee00-0000-4000-8000-000000000001', 1, 'Why do the totals differ by a cent?', '2026-11-22T20:13:57.426Z', 1795378437426, NULL, NULL, NULL, '1');
CREATE TABLE "observations" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        text TEXT,
        type TEXT NOT NULL,
        title TEXT,
        subtitle TEXT,
        facts TEXT,
        narrative TEXT,
        concepts TEXT,
        files_read TEXT,
        files_modified TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, generated_by_model TEXT, relevance_count INTEGER DEFAULT 0, merged_into_project TEXT, agent_type TEXT, agent_id TEXT, metadata TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO observations VALUES (1, 'memory-1', 'ledger', NULL, 'bugfix', 'Totals differed by a cent', 'Each line was rounded before the sum', '["round_half_even() is called once, on the sum","Test: tests/rounding.rs"]', 'The report rounded each line. It now sums integers and rounds once.', '["problem-solution","gotcha"]', '["src/report.rs","src/money.rs"]', '["src/report.rs"]', 1, '2026-11-20T23:30:00.000Z', 1795217400000, 900, 'dc0e46ffb4285b7d', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO observations VALUES (2, 'memory-1', 'ledger', NULL, 'decision', 'Amounts are integers of the smallest unit', NULL, '[]', 'No floats in the ledger: a float cannot hold 0.1.', '["why-it-exists"]', '[]', '[]', 1, '2026-11-20T23:31:00.000Z', 1795217460000, 300, 'e7e6e28b2cdd4631', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
CREATE TABLE "session_summaries" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        request TEXT,
        investigated TEXT,
        learned TEXT,
        completed TEXT,
        next_steps TEXT,
        files_read TEXT,
        files_edited TEXT,
        notes TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, merged_into_project TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO session_summaries VALUES (1, 'memory-1', 'ledger', 'Find why the totals differ by a cent', 'src/report.rs and its tests', 'Lines were rounded before the sum', 'Rounding moved to the sum', 'Round tax the same way', '["src/money.rs"]', '["src/report.rs"]', NULL, 1, '2026-11-20T23:32:00.000Z', 1795217520000, 0, NULL, NULL, NULL, NULL, '1');
