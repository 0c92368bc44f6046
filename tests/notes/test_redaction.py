"""No password, token or key reaches the journal by a save or an update, and nothing else is
taken for one.

No secret stands in this file: `~` keeps the beginnings of tokens apart, and the rest is made
when the tests run.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import random
import re
import unicodedata
import uuid
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import BasePlugin
from forks import ForkedHome
from hypothesis import given, settings
from hypothesis import strategies as st
from linear import is_linear
from trials import examples

from synaptic.mcp.tools import TOOLS
from synaptic.notes.redaction import find_secrets, line_number, redact

ROOT = Path(__file__).parents[2]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ALPHABETS = {
    "A": LETTERS + "0123456789",
    "b": LETTERS + "0123456789+/",
    "d": "0123456789",
    "h": "0123456789abcdef",
    "l": "abcdefghijklmnopqrstuvwxyz",
    "p": LETTERS + "0123456789!%^*+~",
    "U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "w": LETTERS + "0123456789-_",
}


def made(template: str, seed: int = 7) -> str:
    """The template with `{A36}` as 36 random characters, among them a digit and letters of both
    cases if it has any.
    """
    chance = random.Random(f"{seed} {template}")

    def filled(match: re.Match[str]) -> str:
        alphabet, size = ALPHABETS[match[1]], int(match[2])
        chars = [chance.choice(alphabet) for _ in range(size)]
        for place, kind in enumerate((str.isdigit, str.islower, str.isupper)):
            fitting = [char for char in alphabet if kind(char)]
            if fitting and place + 1 < size:
                chars[place + 1] = chance.choice(fitting)
        return "".join(chars)

    return re.sub(r"\{([AbdhlpUw])(\d+)\}", filled, template.replace("~", ""))


def jwt(*parts: str) -> str:
    return ".".join(
        base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts
    )


JWT = jwt('{"alg":"HS256","typ":"JWT"}', '{"sub":"1234567890","name":"Ada"}') + ".{w43}"


def pem(label: str, lines: int = 6, eol: str = "\n", head: str = "") -> str:
    return eol.join(
        [
            f"-----BE~GIN {label}-----",
            head + "{b64}",
            *["{b64}"] * lines,
            f"-----E~ND {label}-----",
        ]
    )


# kind, the text; what stands between « and » has to go and nothing else
TRUE = [
    ("Anthropic key", "The key is «sk~-ant-api03-{w93}AA»."),
    ("Anthropic key", 'export ANTHROPIC_API_KEY="«sk~-ant-api03-{w80}»"'),
    ("OpenAI key", "OPENAI_API_KEY=«sk~-proj-{w74}T3~BlbkFJ{w74}»"),
    ("OpenAI key", "Use «sk~-{A20}T3~BlbkFJ{A20}» for the tests."),
    ("OpenAI key", "service account «sk~-svcacct-{w60}», rotated"),
    ("OpenAI key", "openrouter: «sk~-or-v1-{h64}»"),
    ("GitHub token", "Push with «gh~p_{A36}» from CI."),
    ("GitHub token", "«gh~o_{A36}»"),
    ("GitHub token", "`«gh~s_{A36}»`"),
    ("GitHub token", "refresh (gh) [«gh~r_{A76}»]"),
    ("GitHub token", "fine grained: «github~_pat_{A22}_{A59}»"),
    ("GitHub token", "git clone https://«gh~p_{A36}»@github.com/acme/app.git"),
    ("GitHub token", "git clone https://x-access-token:«gh~s_{A36}»@github.com/acme/app"),
    ("GitHub token", "https://example.com/hook?access_token=«gh~p_{A36}»&page=2"),
    ("GitHub token", "redirect%3Ftoken%3D«gh~p_{A36}»%26next"),
    ("GitHub token", '{"log": "first\\n«gh~p_{A36}»\\nlast"}'),
    ("GitHub token", "```sh\ncurl -H 'Authorization: token «gh~p_{A36}»' api\n```"),
    ("GitHub token", "line\r\ntoken: «gh~p_{A36}»\r\nline"),
    ("GitLab token", "glab auth login --token «gl~pat-{w20}»"),
    ("GitLab token", "routable «gl~pat-{w27}.01.{l9}» one"),
    ("GitLab token", "runner «gl~rt-{w20}»"),
    ("AWS access key", "aws_access_key_id = «AK~IA{U16}»"),
    ("AWS access key", "temporary «AS~IA{U16}» key"),
    ("AWS secret key", "aws_secret_access_key = «{b40}»"),
    ("AWS secret key", "AWS_SECRET_ACCESS_KEY=«{b40}»"),
    ("AWS secret key", '"awsSecretKey": "«{b40}»"'),
    ("token", "aws_session_token=«{b200}»"),
    ("Google key", "maps key «AI~za{w35}» in the page"),
    ("Google token", "«ya~29.{w60}»"),
    ("Google token", "client secret «GOC~SPX-{w28}»"),
    ("Google token", "refresh «1/~/0{w43}» token"),
    ("Slack token", "SLACK_BOT_TOKEN=«xo~xb-{d12}-{d12}-{A24}»"),
    ("Slack token", "user «xo~xp-{d11}-{d11}-{d12}-{h32}»"),
    ("Slack token", "socket mode: «xa~pp-1-A{d10}-{d13}-{h64}»"),
    ("Slack webhook", "post to https://«hooks.sl~ack.com/services/T{U8}/B{U8}/{A24}»"),
    ("Stripe key", "stripe.api_key = '«sk~_live_{A24}»'"),
    ("Stripe key", "restricted «rk~_live_{A40}»"),
    ("Stripe key", "«sk~_test_{A99}»"),
    ("Stripe key", "endpoint: «wh~sec_{A32}»"),
    ("npm token", "NPM_TOKEN=«np~m_{A36}»"),
    ("npm token", "//registry.npmjs.org/:_authToken=«np~m_{A36}»"),
    ("token", "//registry.npmjs.org/:_authToken=«{h8}-{h4}-{h4}-{h4}-{h12}»"),
    ("PyPI token", "twine upload -p «py~pi-AgEIcHlwaS5vcmc{w120}»"),
    ("JWT", f"Cookie: session=«{JWT}»; Path=/"),
    ("JWT", f"Authorization: Bearer «{JWT}»"),
    ("JWT", f"> «{JWT}»"),
    ("Hugging Face token", "HF_TOKEN=«h~f_{A34}»"),
    ("Groq key", "«gs~k_{A52}»"),
    ("SendGrid key", "«S~G.{w22}.{w43}»"),
    ("DigitalOcean token", "doctl auth init -t «do~p_v1_{h64}»"),
    ("Telegram token", "bot {d9}:«A~A{w33}»"),
    ("Docker token", "docker login -p «dc~kr_pat_{w27}»"),
    ("Shopify token", "«shp~at_{h32}»"),
    ("Vault token", "VAULT_TOKEN=«hv~s.{w90}»"),
    ("Linear key", "«lin~_api_{A40}»"),
    ("age key", "# age\n«AGE-SEC~RET-KEY-1{U58}»"),
    ("Azure key", "AccountName=acme;AccountKey=«{b86}==»;EndpointSuffix=core.windows.net"),
    ("private key", "«" + pem("RSA PRIVATE KEY") + "»"),
    ("private key", "before\n\n«" + pem("PRIVATE KEY") + "»\n\nafter"),
    ("private key", "«" + pem("OPENSSH PRIVATE KEY", eol="\r\n") + "»\r\nafter"),
    ("private key", "«" + pem("EC PRIVATE KEY", 2) + "»"),
    ("private key", "«" + pem("PGP PRIVATE KEY BLOCK", 20, head="Version: GnuPG v2\n\n") + "»"),
    (
        "private key",
        "«"
        + pem("RSA PRIVATE KEY", head="Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{h32}\n\n")
        + "»",
    ),
    (
        "private key",
        '{"private_key": "«' + pem("PRIVATE KEY", eol="\\n") + '»\\n", "client_id": "1"}',
    ),
    ("private key", "> " + "«" + pem("PRIVATE KEY", eol="\n> ") + "»"),
    (
        "private key",
        "torn: «-----BE~GIN RSA PRIVATE KEY-----\n{b64}\n{b64}»\n\nWhat follows is prose.",
    ),
    ("password in a URL", "DATABASE_URL=postgres://app:«{p16}»@db.internal:5432/app"),
    ("password in a URL", "redis://:«{A20}»@cache:6379/0"),
    ("password in a URL", "mongodb+srv://ada:«{A12}»@cluster0.mongodb.net"),
    ("password in a URL", "https://ada:«hunter2»@example.com/repo.git"),
    ("password", "password = «hunter2»"),
    ("password", "password: «Tr0ub4dor&3»"),
    ("password", 'password = "«correcthorse»"'),
    ("password", "DB_PASSWORD=«{p20}»"),
    ("password", "export PGPASSWORD=«swordfish»"),
    ("password", '{"user": "ada", "password": "«{A12}»"}'),
    ("password", '{\\"password\\": \\"«{A12}»\\"}'),
    ("password", "dbPassword: '«{A14}»'"),
    ("password", "  password: «{p14}»\n  user: ada"),
    ("password", "passwd=«{A9}» user=ada"),
    ("password", "PWD: «{A11}»"),
    ("password", "**Password:** «{A10}»"),
    ("password", "The password is `«hunter2!»`, he said."),
    ("password", "The password is «{A12}»."),
    ("password", "Password:\n«{A12}»\nUser: ada"),
    ("password", "| Password | «{A12}» |"),
    ("password", "<password>«{A12}»</password>"),
    ("password", "mysql --user ada --password «{A12}» app"),
    ("password", "machine example.com login ada password «{A12}»"),
    ("password", "DB_PASS=«{A12}»"),
    ("password", "https://example.com/login?user=ada&password=«{A12}»&next=1"),
    ("passphrase", 'passphrase: "«correct horse battery staple»"'),
    ("passphrase", "The passphrase «correct-horse-battery-staple» opens it."),
    ("passphrase", "passphrase: «correct-horse-battery»"),
    ("password", 'variable "db_password" { default = "«{A12}»" }'),
    (
        "password",
        'variable "admin_password" {\n  type    = string\n  default = "«correcthorse»"\n}',
    ),
    ("token", 'variable "api_token" {\n  sensitive = true\n  default   = "«{A36}»"\n}'),
    ("password", "| Host | Password |\n|---|---|\n| db1 | «{A12}» |"),
    ("password", "Service | Passwort | Seit\n:--|:-:|--:\nMail | `«{A12}»` | 2024"),
    ("key", "> | API key | of |\n> |---|---|\n> | «{h32}» | CI |"),
    ("secret", "client_secret: «{A40}»"),
    ("secret", "SECRET_KEY_BASE=«{h128}»"),
    ("secret", "secret = '«{w32}»'"),
    ("key", "api_key = «{A32}»"),
    ("key", "X-API-Key: «{h32}»"),
    ("key", "apiKey: '«{A24}»',"),
    ("key", "## API key\n\n«{A40}»\n"),
    ("key", "encryption key: «{b43}=»"),
    ("token", "auth_token=«{h40}»"),
    ("token", "token: «{A36}»"),
    ("token", '"access_token" : "«{w64}»",'),
    ("authorization", "curl -H 'Authorization: Bearer «{A40}»' https://api.example.com"),
    ("authorization", "Authorization: Basic «{A28}=»"),
    ("password", "curl -u ada:«{p14}» https://api.example.com/v1"),
    ("password", "curl -sS --user 'ada:«{A14}»' https://api.example.com"),
    ("password", "curl -X POST \\\n  -u ada:«{A14}» \\\n  https://api.example.com"),
    ("password", "mysql -u root -p«{A12}» app < dump.sql"),
    ("password", "mysqldump --single-transaction -uroot -p'«{p12}»' app"),
    ("password", "sshpass -p «{A12}» ssh ada@host"),
    ("password", "redis-cli -h cache -a «{A16}» ping"),
    ("password", "docker login -u ada -p «{A16}» registry.example.com"),
    ("password", "CREATE USER ada IDENTIFIED BY '«{A12}»';"),
    ("password", "echo 'ada:«{A12}»' | chpasswd"),
    ("password", "db.internal:5432:app:ada:«{A14}»"),
    ("password", "# ~/.pgpass\n*:*:*:postgres:«{p12}»\n"),
    ("password", 'wifi: psk="«{A12}»"'),
    ("registry credentials", "//registry.npmjs.org/:_auth=«{A27}=»"),
    ("registry credentials", "_auth = «YWRhOnM~zY3JldDEyMzQ1»"),
    ("registry credentials", '{"auths": {"ghcr.io": {"auth": "«YWRhOnM~zY3JldDEyMzQ1»"}}}'),
    ("token", "set -x API_TOKEN «{A32}»"),
    ("token", "set -gx GITLAB_TOKEN «{w24}»"),
    ("token", "set -Ux API_TOKEN '«{A32}»'"),
    ("password", "setx DB_PASSWORD «{A12}»"),
    ("secret", "ENV CLIENT_SECRET «{A32}»"),
    ("token", "AZURE_DEVOPS_EXT_PAT=«{l51}7»"),
    ("token", "GITHUB_PAT: «{A40}»"),
    (
        "Azure signature",
        "https://acme.blob.core.windows.net/a?sv=2022-11-02&se=2026-12-01&sp=r&sig=«{b43}%3D»",
    ),
    ("Discord webhook", "https://«discord.com/api/web~hooks/{d18}/{w68}»"),
    ("password in a URL", "SENTRY_DSN=https://{h32}:«{h32}»@o1.ingest.sentry.io/2"),
    ("Sentry token", "«sntry~u_{h64}»"),
    ("Tailscale key", "tailscale up --authkey «ts~key-auth-k{A11}-{A32}»"),
    (
        "private key",
        "«PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: a\nPublic-Lines: "
        "2\n{b64}\n{b40}\n"
        "Private-Lines: 1\n{b44}\nPrivate-MAC: {h64}»\n",
    ),
    ("session cookie", "Cookie: theme=dark; sessionid=«{A32}»; lang=en"),
    ("session cookie", "Set-Cookie: connect.sid=«s%3A{A32}.{A43}»; Path=/; HttpOnly"),
    ("session cookie", "PHPSESSID=«{A26}»"),
    ("session cookie", "curl -b 'JSESSIONID=«{A32}»' https://example.com"),
    ("session cookie", "Set-Cookie: sid=«{h32}»; HttpOnly"),
    ("session cookie", "PHPSESSID=«{h26}»"),
    ("key", "set -gx OPENWEATHER_KEY «{A32}»"),
    ("password", "contraseña: «{A12}»"),
    ("password", "Contraseña del router: «{A12}»"),
    ("password", "mot de passe : «{A12}»"),
    ("password", "Le mot de passe du wifi est «{A12}»."),
    ("password", "Passwort: «{A12}»"),
    ("password", "Das Passwort für den Router ist «{A12}»."),
    ("password", "Das Kennwort lautet «{A12}»"),
    ("password", "Senha: «{A12}»"),
    ("password", "hasło: «{A12}»"),
    ("password", "wachtwoord: «{A12}»"),
    ("password", "пароль: «{A12}»"),
    ("password", "Пароль от роутера: «{A12}»"),
    ("password", "密码：«{A12}»"),
    ("password", "パスワードは«{A12}»"),
    ("password", "şifre: «{A12}»"),
    ("password", "lösenord: «{A12}»"),
    ("password", "Kennwort\u00a0:\u00a0«{A12}»"),
    ("password", "mot\u202fde\u202fpasse\u202f:\u00a0«{p12}»"),
    ("password", "**Password**:\u2007«{p12}»"),
    ("password", "| Site | Password |\n|---|---|\n| shop |\u00a0«{p12}»\u00a0|"),
    ("token", "API\u3000token\u205f=\u1680«{A24}»\u2003(staging)"),
    ("key", "the API\u00a0key of Mailjet\u00a0is\u2009«{h32}»"),
    ("password", "curl\u00a0-u\u00a0ada:«{p12}»\u00a0https://example.com"),
    ("password", "senha:\u2028«{p12}»\u2028fim"),
    ("password", "Password:\n\n«{A12}»\n\nIt is the printer's."),
    ("password", "## Router password\n\n«{A10}»\n"),
    ("password", "- Passwort\n  : «{A10}»"),
    ("password", "> Wi-Fi password:\n>\n> ```\n> «{A10}»\n> ```"),
    ("password", "Password for the printer:\r\n\r\n```text\r\n«{A10}»\r\n```\r\n"),
    ("key", "The API key of Mailjet:\n~~~\n«{A24}»\n~~~"),
    ("token", "Deploy token\n\n`«{A24}»`"),
    ("authorization", "Send Bearer «{A40}» with it."),
    ("authorization", 'headers = {"X-Auth": "Bearer «{A40}»"}'),
    ("key", "The API key of Mailjet is «{h32}»."),
    ("key", "the API key for the staging account of Mailjet is now «{A32}»"),
    ("token", "The deploy token for ci was changed to «{A32}»"),
    ("password", "The password for the router is «{A10}»."),
    ("password", "The admin password of the printer on floor two: «{A10}»"),
    ("password", "Password (router): «{A10}»"),
    ("GitHub token", "the token «gh~p_{A20}\n{A16}» is wrapped"),
    ("GitHub token", "> «gh~p_{A20}\n> {A16}»\n> is quoted"),
    ("Anthropic key", "«sk~-ant-api03-{w50}\n{w43}AA»\n\nprose"),
    ("JWT", f"token\n«{JWT.replace('.', '.' + chr(10), 1)}»\n"),
    ("npm token", "NPM «np~m_{A18}\\\n  {A18}»"),
]
IDS = [f"{number}-{kind}".replace(" ", "-") for number, (kind, _) in enumerate(TRUE)]


def example(template: str) -> tuple[str, str]:
    """(the text, its secret)."""
    text = made(template)
    before, secret, after = re.split("[«»]", text)
    return before + secret + after, secret


@pytest.mark.parametrize(("kind", "template"), TRUE, ids=IDS)
def test_a_secret_is_found_whole_and_nothing_beside_it(kind: str, template: str) -> None:
    text, secret = example(template)
    [found] = find_secrets(text)
    assert (found.kind, text[found.start : found.end]) == (kind, secret)
    clean = redact(text, [found])
    assert clean == text.replace(secret, f"[redacted: {kind}]") and find_secrets(clean) == ()


def test_there_are_enough_examples() -> None:
    assert len({template for _, template in TRUE}) >= 140


# -- another scanner as the oracle
# --------------------------------------------------------------------


def plugins() -> Iterator[BasePlugin]:
    for kind in get_mapping_from_secret_type_to_class().values():
        if "Entropy" not in kind.__name__ and "IP" not in kind.__name__:
            yield kind()


PLUGINS = list(plugins())


def theirs(text: str) -> set[str]:
    """What detect-secrets finds in a text."""
    return {
        found.secret_value or ""
        for number, line in enumerate(text.split("\n"), start=1)
        for plugin in PLUGINS
        for found in plugin.analyze_line(filename="note.md", line=line, line_number=number)
    }


def test_another_scanner_finds_nothing_of_a_secret_that_was_redacted() -> None:
    known_to_both = 0
    for _, template in TRUE:
        text, secret = example(template)
        known_to_both += any(
            part in secret or secret in part for part in theirs(text) if len(part) > 5
        )
        left = theirs(redact(text, find_secrets(text)))
        assert not [part for part in left if len(part) > 5 and part in secret], template
    assert known_to_both >= 30  # else it would be no oracle


TOKEN_PLUGINS = [
    plugin
    for plugin in PLUGINS
    if type(plugin).__name__
    in (
        "GitHubTokenDetector",
        "GitLabTokenDetector",
        "PypiTokenDetector",
        "SendGridDetector",
        "StripeDetector",
    )
]


@pytest.mark.parametrize("plugin", TOKEN_PLUGINS, ids=lambda plugin: type(plugin).__name__)
def test_what_another_scanner_calls_a_token_is_one(plugin: BasePlugin) -> None:
    for pattern in plugin.denylist:  # type: ignore[attr-defined]

        @settings(max_examples=15, deadline=None, database=None)
        @given(st.from_regex(re.compile(pattern.pattern, re.ASCII), fullmatch=True))
        def found(token: str) -> None:
            assert find_secrets(f"see {token} there")

        found()


# -- what is no secret
# --------------------------------------------------------------------------------

PLAIN = [
    'variable "region" { default = "eu-west-1" }',
    'variable "db_password" { default = "" }',
    'variable "db_password" {\n  default = "changeme"\n}',
    'variable "key_name" { default = "deploy-2024" }',
    "| Password | Set |\n|---|---|\n| yes | 2024-01-01 |\n| see vault12 | a1b2c3d4 |\n| "
    "`<password>` | no |",
    "| Tokens | Words |\n|---|---|\n| 120000 | a1b2c3d4e5f6 |",
    "| Password length | Score |\n|---|---|\n| 12 | a1b2c3 |",
    "A passphrase end-to-end encrypted.",
    "a passphrase-protected-key-file",
    "passphrase: your-passphrase-here",
    "The password is required, and it must be long enough.",
    "password: required",
    "Passwords are hashed with bcrypt; the token expires after 3600 seconds.",
    "password = os.environ['DB_PASSWORD']",
    "password = get_password(user)",
    "self.password = config.password",
    "password: str = field(repr=False)",
    "password=${DB_PASSWORD} docker compose up",
    "DB_PASSWORD=<your password here>",
    "api_key: YOUR_API_KEY",
    'api_key = "your-api-key-here"',
    "token = ****************",
    "token: xxxxxxxxxxxxxxxxxxxx",
    "secret: /run/secrets/db_password_2",
    "SECRET_FILE=/etc/app/secret1.txt",
    "secretName: db-credentials-v2",
    "secret_key_ref: { name: app-secrets, key: django-key-1 }",
    "max_tokens: 4096, token_count=1234567",
    "user.authenticate(params[:password])",
    "field :password_digest, :string",
    "postgres://user:password@localhost:5432/app",
    "postgres://app:${DB_PASSWORD}@db/app",
    "mongodb://<USER>:<PASSWORD>@<HOST>",
    "http://localhost:3000?email=ada@example.com",
    "git@github.com:acme/app.git and ssh://git@example.com:22/app",
    "The key to it: monkeys. keyboard: Model M, key = value1234567890",
    "The file begins with -----BEGIN RSA PRIVATE KEY----- and ends with -----END RSA "
    "PRIVATE KEY-----.",
    "-----BEGIN "
    "CERTIFICATE-----\nMIIDXTCCAkWgAwIBAgIJAKL0UG+mRkmSMA0GCSqGSIb3DQEB\n-----END "
    "CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8Q2Z3p0mW1n9w7p5F2m1p9Yt4vS0i6lC0m3qQv9m5K "
    "ada@example.com",
    "Tokens of GitHub begin with ghp_, those of GitLab with glpat-, keys of OpenAI with "
    "sk-proj-.",
    "compass: x12345678, bypass = y12345678",
    "sk-learn is spelled scikit-learn; task-1234567890abcdef1234567890abcdef12",
    "eyJ is how a JWT begins.",
    "password = [redacted: password] and [redacted: GitHub token]",
    "## Token\n\nA token is what the tokenizer makes of a word.",
    "password\n\nHunter wrote it.",
    "password: !vault |\n          $ANSIBLE_VAULT;1.1;AES256\n          6638643965366264373832",
    "api_password: !secret db_password",
    "password: !Ref DatabasePassword2",
    "credentials: provider=aws-sso-2026",
    "access_key: S3AccessKeyAlias01",
    "secret_key: prodDatabaseKey2",
    "deploy key: deploy@ci-runner-07",
    "AWS_ACCESS_KEY_ID=AKIAIOSF~ODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfi~CYEXAMPLEKEY",
    "stripe.api_key = 'sk~_test_4eC39HqLyjWDarjtT1zdp7dc'",
    "https://hooks.sl~ack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "Authorization: Basic QWxhZGRpbj~pvcGVuIHNlc2FtZQ==",
    "Authorization: Bearer mF_9.B5f~-4.1JqM",
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
    "ghp_" + "x" * 36,
    "Authorization: Bearer $TOKEN, Bearer <token>, Bearer ${API_TOKEN}, bearer authentication",
    "Basic authentication; Basic information; basic configuration",
    "curl -u $USER:$PASSWORD https://example.com and curl -u user:password and curl --user "
    "<user>:<password>",
    "docker run -u 1000:1000 -p 8080:80 nginx; docker run --user 1000:1000 curlimages/curl "
    "-u 1000:1000",
    'mysql -u root -p app; mysql -p$MYSQL_PWD; mysqldump -p"$PASS"; mysql -p<password>',
    "set -x\necho token 1234567890ab",
    "set -x API_TOKEN $argv[1]",
    "set -x API_TOKEN (pass show api/token2)",
    '"auth": "required", "auth": "oauth2", auth: "basic"',
    "_auth=${NPM_AUTH} and _authToken=${NPM_TOKEN}",
    "The password is base64-encoded, the token is sha256-hashed.",
    "The password for the router is on the sticker below it.",
    "The API key of Mailjet is stored in 1Password, the token for CI in the vault.",
    "the key for success is teamwork2026",
    "The password is required for users of v2.",
    "mot de passe : obligatoire; contraseña: requerida; пароль: обязателен; 密码：必填",
    "Cookie: theme=dark; consent=accepted; Set-Cookie: lang=en; Path=/; Max-Age=31536000",
    "127.0.0.1:5432:5432 and 10.0.0.1:8080:80",
    "ports: 5432:5432:tcp:main",
    "TokenBucketRateLimiter2: see the tokenizer; session_id is a UUID",
    "The DSN https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2 is public.",
    "tskey-auth-... and dckr_pat_... are what they begin with; gh~p_ and a line\nthat "
    "follows it",
    "PuTTY-User-Key-File-2: is how such a file begins.",
    "PATH=/usr/bin:/bin and DISPATCH_PAT is unset",
    "name_pat = '[a-z]{12}[0-9]{4}'",
    "To reset a password:\n\n```sh\npython3 manage.py changepassword\n```",
    "## Password\n\nbcrypt2 hashes each password with 12 rounds.",
    "Reset the password\n\n```\nauth.reset2(user)\n```",
    "Type the password:\n\n./reset2.sh",
    "Get an API key:\n```sh\nexport-key2 --name=ci\n```",
    "# Password\n\n2026-11-27\n\nIt is\u00a0new.",
    "session_id: 3f2c9a1e-8b7d-4c6a-9e5f-0a1b2c3d4e5f, session = 20261121-7k3m9q2x",
    "PRIMARY_KEY=a1b2c3d4e5f6a7b8, STRIPE_PUBLISHABLE_KEY=pk_l~ive_a1b2c3d4e5f6a7b8c9d0",
]


@pytest.mark.parametrize("text", PLAIN)
def test_prose_code_and_placeholders_are_no_secrets(text: str) -> None:
    assert find_secrets(text.replace("~", "") if "~/" not in text else text) == ()


def test_hashes_ids_and_paths_are_no_secrets() -> None:
    chance = random.Random(7)
    for _ in range(300):
        data = chance.randbytes(20)
        lines = [
            hashlib.sha256(data).hexdigest(),
            f"commit {hashlib.sha1(data).hexdigest()}",
            f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}",
            f"id: {uuid.UUID(bytes=data[:16])}",
            f"20261121-{base64.b32encode(data[:5]).decode().lower()}",
            base64.b32encode(data).decode(),
            f"/var/lib/{data.hex()}/{base64.urlsafe_b64encode(data).decode()}.json",
            f"https://example.com/{data.hex()}?v={chance.random()}",
        ]
        assert find_secrets("\n".join(lines)) == ()


def test_the_projects_own_files_hold_none() -> None:
    files = [
        *ROOT.glob("*.md"),
        *(ROOT / "synaptic").rglob("*.py"),
        *(ROOT / "tests").rglob("test_[j-qs]*.py"),
    ]
    assert len(files) > 50
    alarms = {
        (path.name, *secret[:1])
        for path in files
        for secret in find_secrets(path.read_text(encoding="utf-8"))
    }
    assert alarms <= {("redaction.py", "key")}  # the pattern of Azure's


# -- hidden, torn, large
# ------------------------------------------------------------------------------


def test_invisible_characters_hide_nothing() -> None:
    for mark in ("\u200b", "\u00ad", "\ufeff", "\u2060", "\u200d\u200b"):
        token = made("gh~p_{A36}")
        text = f"é {mark}a {token[:3]}{mark}{token[3:20]}{mark}{token[20:]} b{mark}"
        [found] = find_secrets(text)
        assert redact(text, [found]) == f"é {mark}a [redacted: GitHub token] b{mark}"


def test_every_unicode_blank_is_a_blank() -> None:
    blanks = [chr(code) for code in range(0x3001) if unicodedata.category(chr(code)) == "Zs"]
    assert len(blanks) == 17
    value = made("{p12}")
    for blank in blanks:
        for label in ("parola_chiave_:_", "**Passord:**_", "the password_is_", "- Heslo_:\n_"):
            text = f"Shop\n\n{label}{value}\n".replace("_", blank)
            [found] = find_secrets(text)
            assert text[found.start : found.end] == value
    text = f"mot de passe\u202f: \u00ab\u00a0{value}\u00a0\u00bb"
    assert redact(text, find_secrets(text)) == text.replace(value, "[redacted: password]")


def test_each_of_several_is_found_in_its_line() -> None:
    lines = [
        made(template)
        for template in ("a gh~p_{A36}", "", "password = {A12}", "AK~IA{U16},{b40}")
    ]
    found = find_secrets("\n".join(lines))
    assert [(s.kind, line_number("\n".join(lines), s.start)) for s in found] == [
        ("GitHub token", 1),
        ("password", 3),
        ("AWS access key", 4),
        ("AWS secret key", 4),
    ]


HOSTILE = [
    "eyJ",
    "eyJabcdefgh.",
    "-----BE~GIN PRIVATE KEY-----\n",
    "password",
    "password=",
    "api_key ",
    "a://b:c@",
    "sk-",
    "AK~IAABCDEFGHIJKLMNOP ",
    "password='",
    "token\n\n",
    "g\u200bh",
    "password | ",
    "login password ",
    "://a:",
    "ghp_",
    "password=your" + "x" * 90 + "! ",
    "api_key=",
    "curl -u ",
    "mysql ",
    "the password for ",
    "Cookie: a=b; ",
    "Bearer ",
    "gh~p_\n",
    "eyJabcdefghijklmnop\n",
    "gh~p_" + "a" * 15 + "\n",
    "sig=",
    ":*:",
    "PuTTY-User-Key-File-2:\n",
    "Private-Lines: 1\n",
    "token=a" + ".b" * 90 + " ",
    "password\\",
    "password\n\n",
    "password:\n> \n```\n",
    "\n```\n",
    "password\u00a0",
    " ",
    "\u0130",
    "passwordpass=",
    "-",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_text_blows_up(unit: str) -> None:
    """No pattern's time grows by the square of the text."""
    text = (unit.replace("~", "") * 20_000)[:20_000]
    assert is_linear(_redacted, text, text[:5_000], least_s=0.02)
    assert find_secrets(_redacted(text)) == ()


def _redacted(text: str) -> str:
    return redact(text, find_secrets(text))


@settings(max_examples=examples(150), deadline=None)
@hypothesis.example(
    [
        "> "
        "«eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkFkYSJ9.{w43}»",
        "PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 1\n{b64}\nPrivate-Lines: "
        "1\n{b44}\nPrivate-MAC: {h64}\n",
    ]
)
@hypothesis.example(
    ['export ANTHROPIC_API_KEY="«sk~-ant-api03-{w80}»"', "«ya~29.{w60}»", "«ya~29.{w60}»"]
)
@given(
    st.lists(
        st.sampled_from(
            [*(template for _, template in TRUE), *PLAIN, "{", "\u200b", "\n", '"', "İ"]
        ),
        max_size=6,
    )
)
def test_what_was_redacted_holds_no_secret(parts: list[str]) -> None:
    text = made("\n".join(parts).replace("«", "").replace("»", ""))
    found = find_secrets(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert find_secrets(redact(text, found)) == ()


# -- from outside
# -------------------------------------------------------------------------------------


def everywhere(home: ForkedHome) -> bytes:
    """All bytes below the home, the index's too."""
    return b"".join(path.read_bytes() for path in home.path.rglob("*") if path.is_file())


TOKEN, OTHER = made("gh~p_{A36}"), made("gl~pat-{w20}")


def test_a_save_redacts_every_field_and_says_so(home: ForkedHome) -> None:
    url = made("https://ada:{A12}@example.com/a.py")
    saved = home.ask(
        "save",
        f"Deploy with {TOKEN}.\n\npassword = hunter2",
        "--title",
        f"Key {TOKEN}",
        "--tag",
        TOKEN,
        "--file",
        url,
        "--project",
        TOKEN,
    )
    assert saved["notices"][0].startswith(
        "Redacted before it was written: GitHub token (title), GitHub token, password"
    )
    [entry] = home.ask("get", saved["id"])["entries"]
    assert (
        entry["content"]
        == "Deploy with [redacted: GitHub token].\n\npassword = [redacted: password]"
    )
    assert entry["title"] == "Key [redacted: GitHub token]" and entry["tags"] == [
        "redacted-github-token"
    ]
    assert entry["files"] == ["https://ada:[redacted: password in a URL]@example.com/a.py"]
    for secret in (TOKEN.encode(), TOKEN.lower().encode(), b"hunter2", url.encode()):
        assert secret not in everywhere(home)


def test_a_title_made_of_the_text_holds_no_piece_of_a_token(home: ForkedHome) -> None:
    for lead in range(40, 72, 4):
        home.ask(
            "save",
            f"{'word ' * (lead // 5)}{TOKEN} and so on, for more than a hundred characters "
            f"in this line.",
        )
    assert TOKEN[:12].encode() not in everywhere(home)


def test_an_update_redacts_what_is_new_and_leaves_what_a_person_typed(home: ForkedHome) -> None:
    id = home.ask("save", "First.")["id"]
    [day] = home.journal.glob("*.md")
    with day.open("a") as file:
        file.write("\n## 10:00 Typed by hand #mine\npassword = swordfish99\n")
    assert "GitHub token" in home.ask("update", id, "--append", f"Then {TOKEN}.")["notices"][0]
    assert (
        "GitLab token"
        in home.ask("update", id, "--content", f"Now {OTHER}", "--title", TOKEN)["notices"][0]
    )
    assert "tag" in home.ask("update", id, "--add-tag", TOKEN, "--file", OTHER)["notices"][0]
    [mine] = home.ask("find", "--tag", "mine")["entries"]
    assert home.ask("update", mine["id"], "--append", "More.")["notices"] == []
    assert "swordfish99" in day.read_text()
    found = everywhere(home)
    assert (
        TOKEN.encode() not in found
        and OTHER.encode() not in found
        and TOKEN.lower().encode() not in found
    )


def test_a_secret_torn_over_two_fields_is_found(home: ForkedHome) -> None:
    value = made("{A12}")
    assert home.ask("save", f"{value}\n", "--title", "Password:")["notices"]
    id = home.ask("save", "The new one:\n\npassword =")["id"]
    assert home.ask("update", id, "--append", value)["notices"]
    assert value.encode() not in everywhere(home)


@pytest.mark.needs(feature="importing")
def test_the_setting_refuses_or_allows(home: ForkedHome) -> None:
    home.ask("init")
    config = home.path / "config.toml"
    config.write_text('secrets = "refuse"\n')
    refused = home.run("save", f"One line.\nThen {TOKEN}.", "--json")
    assert refused.code == 1 and refused.json["error"]["code"] == "refused"
    assert (
        "GitHub token in line 2" in refused.json["error"]["message"]
        and TOKEN not in refused.text
    )
    tagged = home.run("save", "A text.", "--tag", TOKEN)
    assert tagged.code == 1 and "tag" in tagged.err and TOKEN not in tagged.text
    id = home.ask("save", "A harmless text.")["id"]
    before = everywhere(home)
    assert home.run("update", id, "--append", TOKEN).code == 1
    assert TOKEN.encode() not in everywhere(home) and b"harmless" in before
    config.write_text('secrets = "allow"\n')
    allowed = home.ask("save", f"Then {TOKEN}.")
    assert (
        allowed["notices"] == []
        and home.ask("get", allowed["id"])["entries"][0]["content"] == f"Then {TOKEN}."
    )
    config.write_text('secrets = "never"\n')
    wrong = home.run("save", "A text.")
    assert wrong.code == 1 and '"redact" or "refuse" or "allow"' in wrong.err


def test_no_tool_can_change_the_setting() -> None:
    assert all(
        "secret" not in parameter
        for tool in TOOLS
        for parameter in (*tool.parameters, *tool.options)
    )


def test_a_server_redacts_too(home: ForkedHome) -> None:
    with home.server() as server:
        saved = server.call("save", content=f"Deploy with {TOKEN}.", title=f"Then {TOKEN}")
        assert "GitHub token" in saved["notices"][0]
        server.call("update", id=saved["id"], append=f"Or {OTHER}.")
        assert (
            server.call("search", query="deploy")["hits"][0]["content"].count("[redacted:") == 2
        )
    assert TOKEN.encode() not in everywhere(home) and OTHER.encode() not in everywhere(home)


def test_doctor_names_file_line_and_kind_and_never_the_value(home: ForkedHome) -> None:
    id = home.ask("save", "A text to be replaced.")["id"]
    clean = home.run("doctor", "--secrets", "--json")
    assert clean.code == 0 and clean.json["ok"]
    [day] = home.journal.glob("*.md")
    (home.journal / "notes").mkdir()
    (home.journal / "notes" / "old.md").write_text(f"# Old\n\n<private>\n{OTHER}\n</private>\n")
    day.write_text(day.read_text() + f"\nThe token: {TOKEN}\n")
    home.ask("update", id, "--append", "More.")
    (home.path / "config.toml").write_text('secrets = "allow"\n')
    found = home.run("doctor", "--secrets", "--json")
    assert (
        found.code == 1
        and not found.json["ok"]
        and TOKEN not in found.text
        and OTHER not in found.text
    )
    places = {
        finding["message"].rpartition(":")[0]: finding for finding in found.json["findings"]
    }
    line = day.read_text().split("\n").index(f"The token: {TOKEN}") + 1
    assert "GitHub token" in places[f"{day.name}:{line}"]["message"]
    assert "GitLab token" in places["notes/old.md:4"]["message"]
    [read] = (home.path / ".state" / "read").iterdir()
    assert {place.partition(":")[0] for place in places} == {
        day.name,
        "notes/old.md",
        ".state/trash.md",
        f".state/read/{read.name}",
        f".state/done/{id}",
    }
    assert all(finding["level"] == "warning" and finding["fix"] for finding in places.values())
    assert home.run("doctor", "--secrets", "--fix").code == 2
