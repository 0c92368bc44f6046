-- A published index: the tables of schema.sql, and the text, for readers without the journal.
-- Each row belongs to a journal. Nobody sees a row whose journal the setting synaptic.journals
-- does not name; `*` shows their names alone. `chunk` has a part for each journal, so that the indexes of one never lead
-- through passages of another.

CREATE SCHEMA synaptic;
SET LOCAL search_path = synaptic, public;

CREATE TABLE version (number integer NOT NULL);

CREATE SEQUENCE number AS bigint;           -- of rows, in the order of publication

CREATE TABLE journal (
    name    text COLLATE "C" PRIMARY KEY,
    ready   boolean NOT NULL DEFAULT false  -- all of it was published once
);

CREATE TABLE state (
    journal    text COLLATE "C" PRIMARY KEY REFERENCES journal (name) ON DELETE CASCADE,
    published  bigint NOT NULL DEFAULT 0,   -- transactions
    at         timestamptz,                 -- of the last one
    chunks     bigint NOT NULL DEFAULT 0,
    length     bigint NOT NULL DEFAULT 0,   -- words in all chunks
    model      text,
    dimensions integer,
    usual      double precision,
    stemming   boolean,
    counting   bigint,                      -- the position of the index that was published:
    change     bigint                       -- the number of its count, and of its last change
);

CREATE TABLE source (
    journal text COLLATE "C" NOT NULL,
    id      bigint PRIMARY KEY,
    path    text COLLATE "C" NOT NULL UNIQUE,  -- @journal/ and its path
    seen    bytea NOT NULL,                    -- a keyed hash of all that was published of it
    bytes   bytea NOT NULL                     -- without private passages and secrets
);

CREATE TABLE entry (
    journal      text COLLATE "C" NOT NULL,
    rowid        bigint PRIMARY KEY,
    source       bigint NOT NULL,
    seq          integer NOT NULL,
    own_id       text COLLATE "C" NOT NULL,
    twin         integer NOT NULL,
    other_id     text COLLATE "C",
    id           text COLLATE "C",
    at           bigint NOT NULL,
    utc_offset   integer NOT NULL,
    date         text COLLATE "C" NOT NULL,
    date_source  text COLLATE "C" NOT NULL,
    dated        integer NOT NULL,
    type         text COLLATE "C" NOT NULL,
    title        text COLLATE "C" NOT NULL,
    project      text COLLATE "C",
    project_key  text COLLATE "C",
    importance   integer,
    parent       text COLLATE "C",
    "by"         text COLLATE "C",
    via          text COLLATE "C",
    branch       text COLLATE "C",
    remote       text COLLATE "C",
    root         text COLLATE "C",
    expires      text COLLATE "C",
    due          text COLLATE "C",
    origin       text COLLATE "C",
    pin          integer NOT NULL,
    derived      integer NOT NULL,
    has_files    integer NOT NULL,
    line         integer NOT NULL,
    start        bigint NOT NULL,
    "end"        bigint NOT NULL,
    body_start   bigint NOT NULL,
    body_end     bigint NOT NULL,
    body_line    integer NOT NULL,
    whole_file   integer NOT NULL,
    hash         bigint NOT NULL,
    content_hash bigint NOT NULL,
    row_hash     bigint NOT NULL,
    change       bigint NOT NULL,           -- the number of the change that brought what it says
    consent      text COLLATE "C",          -- of a preference: yes, said, waits
    consent_by   text COLLATE "C",
    UNIQUE (source, own_id)
);
CREATE INDEX entry_source ON entry (source, seq);
CREATE INDEX entry_own_id ON entry (own_id);
CREATE INDEX entry_other_id ON entry (other_id) WHERE twin = 2;
CREATE INDEX entry_content ON entry (content_hash);
CREATE INDEX entry_heading ON entry (title) WHERE derived = 1 AND whole_file = 0;
CREATE INDEX entry_at ON entry (dated, at);
CREATE INDEX entry_change ON entry (change);
CREATE INDEX entry_type ON entry (type) WHERE type <> 'note';
CREATE INDEX entry_project ON entry (project_key) WHERE project_key IS NOT NULL;
CREATE INDEX entry_due ON entry (due) WHERE due IS NOT NULL;
CREATE INDEX entry_pin ON entry (project_key) WHERE pin = 1;

CREATE TABLE tag (
    journal text COLLATE "C" NOT NULL,
    entry   bigint NOT NULL,
    seq     integer NOT NULL,
    name    text COLLATE "C" NOT NULL,
    PRIMARY KEY (entry, seq)
);
CREATE INDEX tag_name ON tag (name);

CREATE TABLE file (
    journal text COLLATE "C" NOT NULL,
    entry   bigint NOT NULL,
    seq     integer NOT NULL,
    path    text COLLATE "C" NOT NULL,
    hash    text COLLATE "C",
    PRIMARY KEY (entry, seq)
);

CREATE TABLE supersedes (
    journal text COLLATE "C" NOT NULL,
    entry   bigint NOT NULL,
    target  text COLLATE "C" NOT NULL,
    PRIMARY KEY (entry, target)
);
CREATE INDEX supersedes_target ON supersedes (target);

CREATE TABLE field (
    journal text COLLATE "C" NOT NULL,
    entry   bigint NOT NULL,
    seq     integer NOT NULL,
    name    text COLLATE "C" NOT NULL,
    value   text COLLATE "C" NOT NULL,
    words   text COLLATE "C" NOT NULL,
    PRIMARY KEY (entry, seq)
);
CREATE INDEX field_name ON field (name);

CREATE TABLE link (
    journal text COLLATE "C" NOT NULL,
    entry   bigint NOT NULL,
    key     bigint NOT NULL,
    PRIMARY KEY (entry, key)
);
CREATE INDEX link_key ON link (key);

CREATE TABLE name (
    journal text COLLATE "C" NOT NULL,
    entry   bigint NOT NULL,
    key     bigint NOT NULL,
    own     integer NOT NULL,
    PRIMARY KEY (entry, key)
);
CREATE INDEX name_key ON name (key);

CREATE TABLE task (
    journal text COLLATE "C" NOT NULL,
    entry   bigint PRIMARY KEY,
    open    integer NOT NULL
);

CREATE TABLE vector (
    journal   text COLLATE "C" NOT NULL,
    chunk     bigint PRIMARY KEY,
    entry     bigint NOT NULL,
    embedding bytea NOT NULL                -- int8
);
CREATE INDEX vector_entry ON vector (entry);

CREATE TABLE token (
    journal text COLLATE "C" NOT NULL,
    chunk   bigint PRIMARY KEY,
    entry   bigint NOT NULL,
    codes   bytea NOT NULL
);
CREATE INDEX token_entry ON token (entry);

CREATE TABLE stem (
    journal text COLLATE "C" NOT NULL,
    term    text COLLATE "C" NOT NULL,
    doc     bigint NOT NULL,                -- chunks that hold it
    PRIMARY KEY (journal, term)
);
CREATE INDEX stem_term ON stem (term);

CREATE TABLE chunk (
    journal text COLLATE "C" NOT NULL,
    rowid   bigint NOT NULL,
    entry   bigint NOT NULL,
    seq     integer NOT NULL,
    start   bigint NOT NULL,
    "end"   bigint NOT NULL,
    hash    bigint NOT NULL,
    vector  integer NOT NULL,               -- 0 wanted, -1 none, 1 there
    length  integer NOT NULL,               -- words
    words   tsvector NOT NULL,              -- our own stems
    repeats jsonb,                          -- how often, of stems that stand there more than once
    rough   bit varying                     -- of its vector, as `sketch` makes it
) PARTITION BY LIST (journal);

-- What is not published, for the SQL that both engines share.
CREATE VIEW access AS SELECT '' COLLATE "C" AS id, 0 AS count, 0::bigint AS at WHERE false;
CREATE VIEW seen WITH (security_invoker = true) AS
    SELECT id, 0 AS said, change AS number FROM entry WHERE id IS NOT NULL
    UNION ALL SELECT '', min(counting), max(change) FROM state HAVING count(*) = 1;

DO $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['state', 'source', 'entry', 'tag', 'file', 'supersedes', 'field',
        'link', 'name', 'task', 'vector', 'token', 'stem', 'chunk']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', one);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', one);
        EXECUTE format(
            'CREATE POLICY allowed ON %I USING (journal = ANY (string_to_array('
            'current_setting(''synaptic.journals'', true), '','')))', one);
    END LOOP;
    CREATE POLICY until ON entry AS RESTRICTIVE USING (
        at <= coalesce(nullif(current_setting('synaptic.until', true), '')::bigint, at));
END $$;

ALTER TABLE journal ENABLE ROW LEVEL SECURITY;
ALTER TABLE journal FORCE ROW LEVEL SECURITY;
CREATE POLICY allowed ON journal USING (current_setting('synaptic.journals', true) = '*'
    OR name = ANY (string_to_array(current_setting('synaptic.journals', true), ',')));
