"""The shipped model is near the original, needs no network and takes any text; other models
fail politely.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from trials import examples

from synaptic.config import DEFAULT_MODEL
from synaptic.errors import ModelError
from synaptic.index import embedding
from synaptic.index.embedding import (
    MODEL_DIR,
    USUAL_COSINE,
    USUAL_OF_SHIPPED,
    FastEmbedder,
    measure_usual_cosine,
    usual_cosine,
)

DATA = Path(__file__).parents[1] / "data"
TEXTS: list[str] = json.loads((DATA / "reference_texts.json").read_text(encoding="utf-8"))
HEAVY = ("fastembed", "huggingface_hub", "numpy", "onnxruntime", "sentencepiece", "tokenizers")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> FastEmbedder:
    embedder = FastEmbedder(DEFAULT_MODEL, cache=tmp_path_factory.mktemp("state") / "models")
    embedder.load()
    return embedder


def run_python(code: str, *wrapper: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter, without anything that would tell the hub's library to
    stay offline.
    """
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("HF_", "SYNAPTIC_"))
    }
    command = [*wrapper, sys.executable, "-c", code]
    return subprocess.run(
        command, env=env | environ, capture_output=True, text=True, timeout=60, check=False
    )


# The model


def test_shipped_model_is_near_the_original(shipped: FastEmbedder) -> None:
    reference = np.load(DATA / "reference_vectors.npy").astype(np.float32)
    reference /= np.linalg.norm(reference, axis=1, keepdims=True)
    assert len(reference) == len(TEXTS) >= 40
    cosines = np.array(
        [
            shipped.embed_query(text).vector @ row
            for text, row in zip(TEXTS, reference, strict=True)
        ]
    )
    worst = TEXTS[int(cosines.argmin())][:60]
    assert cosines.min() >= 0.995, f"{cosines.min():.4f} for {worst!r}"
    assert cosines.mean() >= 0.998


EMBED_THEM = """
import json, sys
from pathlib import Path
from synaptic.index.embedding import FastEmbedder
texts = json.loads(sys.argv[1])
embedder = FastEmbedder(sys.argv[2], cache=Path("unused"))
json.dump([embedder.embed_passage(text).vector.tolist() for text in texts], sys.stdout)
"""
SHORT_TEXTS = [TEXTS[at] for at in (0, 3, 6, 9, 13)]
"""An emulated processor needs a tenth of a second for a word; one of these has none."""


def embed_on_haswell(model: str) -> list[list[float]]:
    """Its vectors of `SHORT_TEXTS` by a processor with AVX2, without AVX-512 and VNNI."""
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        missing = "This test needs qemu-x86_64: `apt install qemu-user`."
        (pytest.fail if os.environ.get("SYNAPTIC_NEED_QEMU") else pytest.skip)(missing)
    run = [emulator, "-cpu", "Haswell", sys.executable, "-c", EMBED_THEM]
    command = [*run, json.dumps(SHORT_TEXTS), model]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [list(vector) for vector in json.loads(done.stdout)]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="emulates a processor of this kind")
@pytest.mark.sweep
def test_a_processor_without_vnni_makes_the_same_vectors(shipped: FastEmbedder) -> None:
    """Whatever this machine has, the vectors agree."""
    there = np.array(embed_on_haswell(DEFAULT_MODEL))
    here = np.array([shipped.embed_passage(text).vector for text in SHORT_TEXTS])
    cosines = (there * here).sum(axis=1)
    assert cosines.mean() >= 0.999 and cosines.min() >= 0.995


def test_texts_of_one_meaning_are_nearer_than_others(shipped: FastEmbedder) -> None:
    question = shipped.embed_query("sign-in trouble").vector
    near = shipped.embed_passage(
        "Fixed authentication JWT token refresh bug in the login flow"
    ).vector
    far = shipped.embed_passage(
        "Bought flour, butter, eggs and two lemons for the cake."
    ).vector
    assert question @ near > question @ far + 0.2 * (1 - USUAL_OF_SHIPPED) / (1 - USUAL_COSINE)


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("Why is the room cold?", "Der Heizkörper bleibt kalt.", "Die Bahn fährt um neun."),
        ("ремонт велосипеда", "Took the bicycle to the repair shop.", "Baked a lemon cake."),
        ("Wann kommt der Zug?", "電車は九時に来ます。", "庭にトマトを植えました。"),
        ("生日礼物", "Le cadeau d'anniversaire de Léa est un vélo.", "Il a plu toute la nuit."),
        ("medicine for the cat", "고양이에게 약을 먹였다.", "우리는 산에 올랐다."),
    ],
)
def test_a_question_in_another_language_is_nearer_to_its_answer(
    shipped: FastEmbedder, question: str, near: str, far: str
) -> None:
    asked = shipped.embed_query(question).vector
    answer, other = (shipped.embed_passage(text).vector for text in (near, far))
    assert asked @ answer > asked @ other + 0.03


def test_a_stop_word_of_sentence_pieces_is_no_content(shipped: FastEmbedder) -> None:
    """`▁The` is `the`, and what the model reads before a text is no part of it."""
    read = shipped.embed_passage("The harbour is in the north.")
    assert {word.strip(" .") for word in read.words} == {"harbour", "north"}


def test_the_usual_cosine_of_the_shipped_model_is_known(shipped: FastEmbedder) -> None:
    """No first run measures it."""
    assert measure_usual_cosine(shipped) == pytest.approx(USUAL_OF_SHIPPED, abs=0.02)
    assert usual_cosine(shipped, lambda: False) == USUAL_OF_SHIPPED


def test_window_is_256_tokens(shipped: FastEmbedder) -> None:
    """`cake` is one token, `passage: ` two, and two mark the ends: the 253rd and all later
    words change nothing.
    """
    full = shipped.embed_passage("cake " * 252).vector
    assert np.array_equal(full, shipped.embed_passage("cake " * 252 + "database " * 50).vector)
    assert not np.array_equal(full, shipped.embed_passage("cake " * 251 + "database").vector)


def test_vectors_do_not_depend_on_what_came_before(shipped: FastEmbedder) -> None:
    alone = shipped.embed_passage(TEXTS[0]).vector
    for text in TEXTS[1:10]:
        shipped.embed_passage(text)
    assert np.array_equal(alone, shipped.embed_passage(TEXTS[0]).vector)


@settings(max_examples=examples(60), deadline=None)
@given(text=st.text(alphabet=st.characters(), max_size=300))
def test_any_text_has_a_unit_vector(shipped: FastEmbedder, text: str) -> None:
    """NUL and lone surrogates included: a pasted binary must not end a search."""
    for vector in (shipped.embed_query(text).vector, shipped.embed_passage(text).vector):
        assert vector.shape == (shipped.dimensions,) == (384,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_a_pasted_log_means_what_its_beginning_means(shipped: FastEmbedder) -> None:
    line = "2026-11-21 09:31:05 ERROR connection reset by peer\n"
    whole, beginning = (
        shipped.embed_query(line * 200_000).vector,
        shipped.embed_query(line * 500).vector,
    )
    assert float(whole @ beginning) == pytest.approx(1.0, abs=1e-5)


# Loading


def test_name_changes_with_the_files_and_needs_no_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = FastEmbedder(DEFAULT_MODEL.upper(), cache=tmp_path)
    before = embedder.name
    assert (
        before.startswith(f"{DEFAULT_MODEL}@")
        and embedder.dimensions == 384
        and not embedder.ready
    )
    monkeypatch.setitem(embedding.MODEL_SHA256, "sentencepiece.model", "0" * 64)
    assert FastEmbedder(DEFAULT_MODEL, cache=tmp_path).name != before
    other = FastEmbedder("BAAI/bge-small-en-v1.5", cache=tmp_path)
    assert other.name == "baai/bge-small-en-v1.5" and other.dimensions == 0


def test_import_is_light_and_loading_reaches_for_no_network(tmp_path: Path) -> None:
    """A hook sees every connection and every name look-up of any Python library, and ends the
    run.

    With strace the kernel is the witness too; where namespaces are allowed the process has no
    network at all.
    """
    code = f"""
import os, sys
def watch(event, arguments):
    if event.startswith(("socket.connect", "socket.send", "socket.get")):
        os.write(2, f"{{event}} {{arguments}}".encode())
        os._exit(3)
sys.addaudithook(watch)
from collections.abc import Callable
from pathlib import Path
from synaptic.index.embedding import FastEmbedder
assert not set({HEAVY!r}) & set(sys.modules), sys.modules.keys()
embedder = FastEmbedder({DEFAULT_MODEL!r}, cache=Path({str(tmp_path / "models")!r}))
print(len(embedder.embed_query("anything").vector))
assert "fastembed" not in sys.modules, "half a second for nothing"
"""
    trace = tmp_path / "trace"
    strace = shutil.which("strace")
    wrapper = (
        [strace, "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", str(trace)]
        if strace
        else []
    )
    if shutil.which("unshare") and run_python("", "unshare", "-rn").returncode == 0:
        wrapper = ["unshare", "-rn", *wrapper]
    done = run_python(code, *wrapper)
    assert (done.returncode, done.stdout, done.stderr) == (0, "384\n", "")
    if strace:
        assert not [
            line
            for line in trace.read_text().splitlines()
            if "(" in line and "AF_UNIX" not in line
        ]
    assert not (tmp_path / "models").exists(), "the shipped model needs no cache"


def test_nothing_is_noted_outside_the_home(tmp_path: Path) -> None:
    """Libraries keep files of their own below the user's home: telemetry, caches."""
    code = f"""
import os
os.environ["HOME"] = {str(tmp_path)!r}
for name in ("XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY"):
    os.environ.pop(name, None)
from collections.abc import Callable
from pathlib import Path
from synaptic.index.embedding import FastEmbedder
FastEmbedder({DEFAULT_MODEL!r}, cache=Path("models")).embed_query("anything").vector
"""
    assert run_python(code).returncode == 0
    assert list(tmp_path.rglob("*")) == []


def test_second_caller_waits_for_the_first(tmp_path: Path) -> None:
    embedder = FastEmbedder(DEFAULT_MODEL, cache=tmp_path)
    vectors: list[bytes] = []
    threads = [
        threading.Thread(
            target=lambda: vectors.append(embedder.embed_query("x").vector.tobytes())
        )
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(vectors) == 6 and len(set(vectors)) == 1 and embedder.ready


def test_shipped_files_are_those_that_the_name_hashes() -> None:
    for file, expected in embedding.MODEL_SHA256.items():
        assert hashlib.sha256((MODEL_DIR / file).read_bytes()).hexdigest() == expected
    assert {file.name for file in MODEL_DIR.iterdir()} == embedding.MODEL_SHA256.keys()


def test_missing_model_names_file_and_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "model"
    shutil.copytree(MODEL_DIR, copy)
    (copy / "model.onnx").unlink()
    monkeypatch.setattr(embedding, "MODEL_DIR", copy)
    embedder = FastEmbedder(DEFAULT_MODEL, cache=tmp_path)
    with pytest.raises(ModelError) as caught:
        embedder.load()
    assert str(copy) in caught.value.message and not embedder.ready
    assert "Reinstall" in caught.value.hint


# Other models


def listed(cache: Path, repository: str, model: str = "model.onnx") -> None:
    """The shipped files, with the words that fastembed's own models need, as a download of one
    of these leaves them.
    """
    folder = cache / f"models--{repository.replace('/', '--')}"
    snapshot = shutil.copytree(MODEL_DIR, folder / "snapshots" / ("0" * 40))
    (snapshot / "model.onnx").rename(snapshot / model)
    tokenizer = Tokenizer(models.WordLevel({"<pad>": 1, "<unk>": 3, "anything": 5}, "<unk>"))
    tokenizer.save(str(snapshot / "tokenizer.json"))
    told = {"model_max_length": 256, "pad_token": "<pad>"}
    (snapshot / "tokenizer_config.json").write_text(json.dumps(told))
    for file in ("config.json", "special_tokens_map.json"):
        (snapshot / file).write_text("{}")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("0" * 40)


def test_unknown_model_names_the_offered(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        FastEmbedder("bge-smal-en-v1.5", cache=tmp_path).embed_query("x")
    assert caught.value.valid[0] == DEFAULT_MODEL
    assert "BAAI/bge-small-en-v1.5" in caught.value.valid
    assert "by words" in caught.value.hint and "config.toml" in caught.value.hint


def test_model_that_cannot_be_downloaded_fails_fast_and_quietly(tmp_path: Path) -> None:
    """Nothing listens at the hub's address: the answer comes in seconds, the second one at
    once.
    """
    code = f"""
import sys, time
from collections.abc import Callable
from pathlib import Path
from synaptic.index.embedding import FastEmbedder
from synaptic.errors import ModelError
embedder = FastEmbedder("BAAI/bge-small-en-v1.5", cache=Path({str(tmp_path / "models")!r}))
for limit in (8.0, 0.05):
    started = time.monotonic()
    try:
        embedder.load()
    except ModelError as error:
        assert time.monotonic() - started < limit
        message = str(error)
print(message)
"""
    done = run_python(code, HF_ENDPOINT="http://127.0.0.1:9")
    assert (done.returncode, done.stderr) == (0, "")
    assert "BAAI/bge-small-en-v1.5" in done.stdout and "could not be downloaded" in done.stdout
    assert "by words" in done.stdout and f'model = "{DEFAULT_MODEL}"' in done.stdout


def test_listed_model_is_used_from_the_cache_without_network(tmp_path: Path) -> None:
    listed(tmp_path, "Qdrant/all-MiniLM-L6-v2-onnx")
    code = f"""
from collections.abc import Callable
from pathlib import Path
from synaptic.index.embedding import FastEmbedder
embedder = FastEmbedder("Sentence-Transformers/all-minilm-l6-v2", cache=Path({str(tmp_path)!r}))
print(abs(embedder.embed_passage("anything").vector @ embedder.embed_query("anything").vector - 1) < 1e-5, embedder.dimensions)
"""
    done = run_python(code, HF_ENDPOINT="http://127.0.0.1:9")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True 384\n", "")


# A folder


@pytest.fixture
def copy(tmp_path: Path) -> Callable[..., FastEmbedder]:
    """Makes a folder of this name with the shipped files, but a config.json that names none."""

    def made(name: str, **files: object) -> FastEmbedder:
        folder = shutil.copytree(MODEL_DIR, tmp_path / name)
        files.setdefault("config", {})
        for file, said in files.items():
            path = folder / (file.replace("__", "/") + ".json")
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(said))
        return FastEmbedder(str(folder), cache=tmp_path)

    return made


def test_a_folder_is_the_model_it_holds(
    shipped: FastEmbedder, copy: Callable[..., FastEmbedder]
) -> None:
    told = json.loads((MODEL_DIR / "config.json").read_bytes())
    mine = copy("mine", config=told, tokenizer_config={"model_max_length": 256})
    assert mine.name != shipped.name and mine.dimensions == 0 and not mine.ready
    assert (
        np.array_equal(
            mine.embed_passage(TEXTS[0]).vector, shipped.embed_passage(TEXTS[0]).vector
        )
        and mine.dimensions == 384
    )


def test_questions_and_passages_begin_as_the_family_wants(
    copy: Callable[..., FastEmbedder],
) -> None:
    plain = copy("plain")
    e5 = copy("multilingual-e5-small")
    assert np.array_equal(
        e5.embed_query("a cake").vector, plain.embed_passage("query: a cake").vector
    )
    assert np.array_equal(
        e5.embed_passage("a cake").vector, plain.embed_passage("passage: a cake").vector
    )
    named = copy("snapshot", config={"_name_or_path": "intfloat/e5-base-v2"})
    assert np.array_equal(
        named.embed_query("a cake").vector, plain.embed_passage("query: a cake").vector
    )


def test_pooling_is_what_the_folder_says_else_that_of_its_family(
    copy: Callable[..., FastEmbedder],
) -> None:
    plain = copy("plain")
    asked = "Represent this sentence for searching relevant passages: a cake"
    first = copy("bge-small-en-v1.5")
    told = copy("bge-base-en-v1.5", **{"1_Pooling__config": {"pooling_mode_mean_tokens": True}})
    assert np.array_equal(told.embed_query("a cake").vector, plain.embed_passage(asked).vector)
    assert not np.allclose(
        first.embed_query("a cake").vector, told.embed_query("a cake").vector, atol=0.05
    )
    assert not np.allclose(
        first.embed_passage("a cake").vector, plain.embed_passage("a cake").vector, atol=0.05
    )


def test_fastembed_adds_no_words_of_its_own(tmp_path: Path) -> None:
    """The shipped files under the name of a listed model of the family BGE."""
    listed(tmp_path, "Qdrant/bge-small-en-v1.5-onnx-Q", "model_optimized.onnx")
    code = f"""
import numpy
from collections.abc import Callable
from pathlib import Path
from synaptic.index.embedding import FastEmbedder
embedder = FastEmbedder("BAAI/bge-small-en-v1.5", cache=Path({str(tmp_path)!r}))
asked = "Represent this sentence for searching relevant passages: a cake"
print(numpy.allclose(embedder.embed_query("a cake").vector, embedder.embed_passage(asked).vector, atol=1e-5), embedder.dimensions)
"""
    done = run_python(code, HF_ENDPOINT="http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (0, "True 384\n"), done.stderr
