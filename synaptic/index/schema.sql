-- The index: disposable, rebuilt from the journal at any time. It holds no text, only where it stands (of two versions, no mark);
-- the full-text table is contentless. Every row is a pure function of the bytes of one file,
-- and of the day on which git says it was added; `tag_use` counts rows.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY NOT NULL
) WITHOUT ROWID;

CREATE TABLE source (
    id       INTEGER PRIMARY KEY,
    path     TEXT NOT NULL UNIQUE,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER,               -- NULL where it is the same
    size     INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    digest   INTEGER NOT NULL,      -- of its bytes
    settled  INTEGER NOT NULL       -- whether its times prove that it is as it was read
);

CREATE TABLE issue (
    source  INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    seq     INTEGER NOT NULL,
    line    INTEGER NOT NULL,
    code    TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (source, seq)
) WITHOUT ROWID;

CREATE TABLE entry (
    rowid        INTEGER PRIMARY KEY,
    source       INTEGER NOT NULL REFERENCES source (id),
    seq          INTEGER NOT NULL,   -- order within the file
    own_id       TEXT NOT NULL,      -- the id that its file gives it
    twin         INTEGER NOT NULL DEFAULT 0,  -- 1 a copy of what another file holds, 2 another text with its id
    other_id     TEXT,               -- the id in force of a twin of the second kind
    id           TEXT AS (CASE twin WHEN 0 THEN own_id WHEN 2 THEN other_id END) VIRTUAL,
    at           INTEGER NOT NULL,   -- microseconds since 1970 UTC
    utc_offset   INTEGER NOT NULL,   -- seconds
    date         TEXT AS (date((at + 62135596800000000) / 1000000 - 62135596800 + utc_offset, 'unixepoch')) VIRTUAL,
    date_source  TEXT NOT NULL,
    dated        INTEGER AS (date_source <> 'mtime') VIRTUAL,
    type         TEXT NOT NULL,
    title        TEXT NOT NULL,
    project      TEXT,
    project_key  TEXT,               -- `blocks.project_key`
    importance   INTEGER,
    parent       TEXT,
    "by"         TEXT,
    via          TEXT,
    branch       TEXT,
    remote       TEXT,               -- hashes of the address and the root commit of its repository
    root         TEXT,
    expires      TEXT,               -- the last day on which it comes first
    due          TEXT,               -- the day from which it begins each session
    origin       TEXT,               -- where a text from outside comes from
    pin          INTEGER NOT NULL,
    derived      INTEGER NOT NULL,
    has_files    INTEGER NOT NULL,   -- named by its mark, or linked to and shown in its text
    line         INTEGER NOT NULL,
    start        INTEGER NOT NULL,   -- byte offsets into the file
    "end"        INTEGER NOT NULL,
    body_start   INTEGER NOT NULL,
    body_end     INTEGER NOT NULL,
    body_line    INTEGER NOT NULL,
    whole_file   INTEGER NOT NULL,
    hash         INTEGER NOT NULL,   -- of the bytes start:end
    content_hash INTEGER NOT NULL,
    row_hash     INTEGER NOT NULL,   -- of all that this row and its passages are made of, but the place
    UNIQUE (own_id, source)
);
CREATE INDEX entry_source ON entry (source, seq);
CREATE INDEX entry_short_id ON entry (lower(substr(own_id, 10)));
CREATE INDEX entry_other_id ON entry (other_id) WHERE twin = 2;
CREATE INDEX entry_content ON entry (content_hash);
CREATE INDEX entry_heading ON entry (title) WHERE derived = 1 AND whole_file = 0;
CREATE INDEX entry_at ON entry (dated, at);
CREATE INDEX entry_by_file ON entry (source) WHERE date_source IN ('git', 'mtime');
CREATE INDEX entry_date ON entry (date) WHERE dated = 1;
CREATE INDEX entry_type ON entry (type, dated, at);
CREATE INDEX entry_worth ON entry (type, coalesce(importance, 5), dated, at);
CREATE INDEX entry_session ON entry (dated, at) WHERE via IN {sessions};
CREATE INDEX entry_session_worth ON entry (coalesce(importance, 5), dated, at) WHERE via IN {sessions};
CREATE INDEX entry_parent ON entry (parent) WHERE parent IS NOT NULL;
CREATE INDEX entry_copy ON entry (twin) WHERE twin = 1;
CREATE INDEX entry_project ON entry (project_key, remote, root);
-- The lists of a project, by time and by importance: by its name, and by the marks of its repository.
CREATE INDEX entry_project_at ON entry (project_key, type, dated, at);
CREATE INDEX entry_project_worth ON entry (project_key, type, coalesce(importance, 5), dated, at);
CREATE INDEX entry_mark_at ON entry (coalesce(root, remote), type, dated, at) WHERE coalesce(root, remote) IS NOT NULL;
CREATE INDEX entry_mark_worth ON entry (coalesce(root, remote), type, coalesce(importance, 5), dated, at) WHERE coalesce(root, remote) IS NOT NULL;
CREATE INDEX entry_remote ON entry (remote) WHERE remote IS NOT NULL;
CREATE INDEX entry_root ON entry (root) WHERE root IS NOT NULL;
CREATE INDEX entry_due ON entry (due) WHERE due IS NOT NULL;
CREATE INDEX entry_pin ON entry (project_key) WHERE pin = 1;

CREATE TABLE tag (
    entry INTEGER NOT NULL REFERENCES entry (rowid) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    name  TEXT NOT NULL,
    PRIMARY KEY (entry, seq)
) WITHOUT ROWID;
CREATE INDEX tag_name ON tag (name);

-- How many entries have each tag: a save and a search ask for all of them.
CREATE TABLE tag_use (
    name  TEXT PRIMARY KEY,
    count INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER tag_added AFTER INSERT ON tag BEGIN
    INSERT INTO tag_use VALUES (new.name, 1) ON CONFLICT (name) DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER tag_deleted AFTER DELETE ON tag BEGIN
    UPDATE tag_use SET count = count - 1 WHERE name = old.name;
    DELETE FROM tag_use WHERE name = old.name AND count = 0;
END;

CREATE TABLE file (
    entry INTEGER NOT NULL REFERENCES entry (rowid) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    path  TEXT NOT NULL,
    hash  TEXT,                      -- its fingerprint, where the entry has one
    PRIMARY KEY (entry, seq)
) WITHOUT ROWID;

CREATE TABLE supersedes (
    entry  INTEGER NOT NULL REFERENCES entry (rowid) ON DELETE CASCADE,
    target TEXT NOT NULL,
    PRIMARY KEY (entry, target)
) WITHOUT ROWID;
CREATE INDEX supersedes_target ON supersedes (target);

-- What front matter and properties say, beside title, tags, aliases and date.
CREATE TABLE field (
    entry INTEGER NOT NULL REFERENCES entry (rowid) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    words TEXT NOT NULL,             -- `marks.field_words` of the value
    PRIMARY KEY (entry, seq)
) WITHOUT ROWID;
CREATE INDEX field_name ON field (name);

-- Links and the names they lead to, as numbers (`marks.link_key`); the text of a link stands in the journal.
CREATE TABLE link (
    entry INTEGER NOT NULL REFERENCES entry (rowid) ON DELETE CASCADE,
    key   INTEGER NOT NULL,
    PRIMARY KEY (entry, key)
) WITHOUT ROWID;
CREATE INDEX link_key ON link (key);

CREATE TABLE name (
    entry INTEGER NOT NULL REFERENCES entry (rowid) ON DELETE CASCADE,
    key   INTEGER NOT NULL,
    own   INTEGER NOT NULL CHECK (own IN (0, 1)),  -- 0: of a block, or of a file or day that may hold other entries too
    PRIMARY KEY (entry, key)
) WITHOUT ROWID;
CREATE INDEX name_key ON name (key);

CREATE TABLE task (
    entry INTEGER PRIMARY KEY REFERENCES entry (rowid) ON DELETE CASCADE,
    open  INTEGER NOT NULL           -- how many of the entry's tasks
);
CREATE INDEX task_open ON task (entry) WHERE open > 0;

-- What no file says: how often an entry was read, and how long calls took. It outlives a rebuild.
CREATE TABLE access (
    id    TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    at    INTEGER NOT NULL           -- the last time, microseconds since 1970 UTC
) WITHOUT ROWID;

-- The change of the index that brought each text of an entry; the row '' has the number of this count as `said`, and a number that no change after a purge has again.
CREATE TABLE seen (
    id     TEXT PRIMARY KEY,
    said   INTEGER NOT NULL,         -- a hash of all that the entry says
    number INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX seen_number ON seen (number);

CREATE TABLE timing (
    number   INTEGER PRIMARY KEY,
    verb     TEXT NOT NULL,
    strategy TEXT,                   -- of a search that had nothing to load any more
    at       INTEGER NOT NULL,       -- seconds since 1970 UTC
    stages   TEXT NOT NULL           -- JSON: milliseconds by stage, and the total
);

CREATE TABLE use (
    week   TEXT NOT NULL,            -- its Monday
    client TEXT NOT NULL,
    what   TEXT NOT NULL,            -- of `counters.USES`
    count  INTEGER NOT NULL,
    PRIMARY KEY (week, client, what)
) WITHOUT ROWID;

CREATE TABLE chunk (
    rowid        INTEGER PRIMARY KEY,
    entry        INTEGER NOT NULL REFERENCES entry (rowid) ON DELETE CASCADE,
    seq          INTEGER NOT NULL,
    start        INTEGER NOT NULL,   -- byte offsets from the entry's body_start
    "end"        INTEGER NOT NULL,
    hash         INTEGER NOT NULL,   -- of the text that is embedded
    words_hash   INTEGER NOT NULL,   -- of the words in chunk_fts
    vector       INTEGER NOT NULL,   -- 0 wanted, -1 none: the entry has enough; else the change that stored it
    crc          INTEGER NOT NULL    -- `vectors.crc_of` its vector; 0 where it has none
);
CREATE UNIQUE INDEX chunk_entry ON chunk (entry, seq);
CREATE INDEX chunk_vector ON chunk (vector);
CREATE INDEX chunk_hash ON chunk (hash);

-- The vectors: a row for each chunk that has one. Made anew for a model of other dimensions, and by `Vectors.tidy`.
CREATE VIRTUAL TABLE chunk_vec USING vec0 (embedding int8[384], chunk_size=16);

-- The signs of the vectors of its content words' tokens: apart, for the nearest vectors are read by the thousand.
CREATE TABLE token (
    chunk INTEGER PRIMARY KEY REFERENCES chunk (rowid) ON DELETE CASCADE,
    codes BLOB NOT NULL              -- 8 bytes a token
);

CREATE VIRTUAL TABLE chunk_fts USING fts5 (
    spelled,                         -- its title, text and tags, by `words.normalize_for_index`
    content = '', contentless_delete = 1, tokenize = '{tokenizer}'
);
CREATE VIRTUAL TABLE chunk_word USING fts5vocab (chunk_fts, row);
CREATE VIRTUAL TABLE chunk_place USING fts5vocab (chunk_fts, instance);

-- What the model made of a text, by its hash. Each version of Synaptic that opens this file and cannot use it
-- takes over the rows of this view (`upgrade`): later schemas may keep them as they like, and keep its name and columns.
CREATE VIEW meaning (hash, embedding, codes) AS
    SELECT c.hash, v.embedding, t.codes FROM chunk c JOIN chunk_vec v ON v.rowid = c.rowid
    JOIN token t ON t.chunk = c.rowid WHERE c.vector > 0;

-- The row `dropped` of `meta` counts the vectors that were deleted: who keeps copies of them need not count all that are left.
CREATE TRIGGER chunk_deleted AFTER DELETE ON chunk BEGIN
    DELETE FROM chunk_fts WHERE rowid = old.rowid;
    DELETE FROM chunk_vec WHERE rowid = old.rowid;
    INSERT INTO meta SELECT 'dropped', 1 WHERE old.vector > 0 ON CONFLICT (key) DO UPDATE SET value = value + 1;
END;
CREATE TRIGGER chunk_changed AFTER UPDATE OF vector ON chunk WHEN old.vector > 0 AND new.vector <> old.vector BEGIN
    DELETE FROM chunk_vec WHERE rowid = new.rowid;
    DELETE FROM token WHERE chunk = new.rowid;
    INSERT INTO meta VALUES ('dropped', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1;
END;
