CREATE TABLE memories (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        content_hash TEXT UNIQUE NOT NULL,
                        content TEXT NOT NULL,
                        tags TEXT,
                        memory_type TEXT,
                        metadata TEXT,
                        created_at REAL,
                        updated_at REAL,
                        created_at_iso TEXT,
                        updated_at_iso TEXT,
                        deleted_at REAL DEFAULT NULL
                    , store TEXT DEFAULT 'default', parent_id TEXT, version INTEGER DEFAULT 1, confidence REAL DEFAULT 1.0, last_accessed INTEGER, superseded_by TEXT, embedding_pending INTEGER NOT NULL DEFAULT 0);
INSERT INTO memories VALUES (1, 'f2a579cc1c1c20ed67bc1c83727f06ecc09f7cf2b6402fe612310a2ca337379e', 'We deploy from the release branch only.', 'deploy,proj:ledger', 'decision', '{"source": "planning"}', 1795304000.25, 1.7953784399559953212e+09, '2026-11-21T23:33:20.250000Z', '2026-11-22T20:13:59.955995Z', NULL, 'default', NULL, 1, 1.0, NULL, NULL, 0);
INSERT INTO memories VALUES (2, '0ecb3da65f2f045e84bc0714c38aa43b083674d3bf345a19f16db327c34f9ec6', 'A release needs two reviews.', 'deploy,2026', 'learning', '{"links": {"ticket": 42}}', 1795307600.25, 1.79537843996968603135e+09, '2026-11-22T00:33:20.250000Z', '2026-11-22T20:13:59.969686Z', NULL, 'default', NULL, 1, 1.0, NULL, NULL, 0);
INSERT INTO memories VALUES (3, 'b554d1c87892bd59bfd3a7f1cd11b21bd1d7a23382459df61bdf75009723d5e0', 'The staging password is in the old wiki.', 'untagged', NULL, '{}', 1795311200.25, 1.79537843997138142583e+09, '2026-11-22T01:33:20.250000Z', '2026-11-22T20:13:59.971381Z', 1.7953784399732248783e+09, 'default', NULL, 1, 1.0, NULL, NULL, 0);
CREATE TABLE memory_graph (
    source_hash TEXT NOT NULL,
    target_hash TEXT NOT NULL,
    similarity REAL NOT NULL,
    connection_types TEXT NOT NULL,  -- JSON array: ["semantic", "temporal", "causal", "thematic"]
    metadata TEXT,                   -- JSON object: {discovery_date, confidence, context}
    created_at REAL NOT NULL, relationship_type TEXT DEFAULT 'related',
    PRIMARY KEY (source_hash, target_hash)
);
INSERT INTO memory_graph VALUES ('0ecb3da65f2f045e84bc0714c38aa43b083674d3bf345a19f16db327c34f9ec6', 'f2a579cc1c1c20ed67bc1c83727f06ecc09f7cf2b6402fe612310a2ca337379e', 0.8, '["semantic"]', '{}', 1.79537843997285795211e+09, 'supports');
