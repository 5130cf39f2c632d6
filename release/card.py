"""The dataset card: README.md with a header that dataset hubs read. Pure, no database."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchmark.metrics import is_of_the_paper
from benchmark.taxonomy import SECONDARY_TASKS, Language
from release.formats import PARQUET_FILE

CODES = {Language.ENGLISH.value: "en", Language.CHINESE.value: "zh"}
TASK_CATEGORIES = ("question-answering", "summarization", "text-classification", "text-retrieval")
# Licences as people write them here, and the names under which hubs know them.
LICENCES = {
    "cc0": "cc0-1.0",
    "cc0 1.0": "cc0-1.0",
    "cc0-1.0": "cc0-1.0",
    "cc by 4.0": "cc-by-4.0",
    "cc-by-4.0": "cc-by-4.0",
    "cc by-sa 4.0": "cc-by-sa-4.0",
    "cc-by-sa-4.0": "cc-by-sa-4.0",
    "apache-2.0": "apache-2.0",
    "mit": "mit",
    "public domain": "unlicense",
}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
TITLES = {
    "primary_task": "Primary task",
    "secondary_task": "Secondary task",
    "language": "Language",
    "token_length": "Length",
    "contextual_requirement": "Context requirement",
    "difficulty": "Difficulty",
    "domain": "Domain",
    "format": "Format",
    "licence": "Licence",
}


def text(manifest: Mapping[str, Any], statistics: Mapping[str, Any]) -> str:
    return "\n".join([*header(manifest, statistics), *_body(manifest, statistics)]) + "\n"


def header(manifest: Mapping[str, Any], statistics: Mapping[str, Any]) -> list[str]:
    """The YAML between two lines of three dashes. A JSON string is a YAML string, so that no name can break it."""
    counts = statistics["counts"]
    licence = _licence(counts["licence"])
    return [
        "---",
        f"pretty_name: {_quoted('LongBench Pro ' + manifest['version'])}",
        "language:",
        *(f"- {CODES[name]}" for name, count in counts["language"].items() if count),
        f"license: {licence}",
        *(["license_name: licences-of-the-sources", "license_link: README.md"] if licence == "other" else []),
        "task_categories:",
        *(f"- {name}" for name in TASK_CATEGORIES),
        "tags:",
        "- long-context",
        "- benchmark",
        "size_categories:",
        f"- {_size(statistics['samples'])}",
        "configs:",
        "- config_name: default",
        "  data_files:",
        "  - split: test",
        f"    path: {PARQUET_FILE}",
        "---",
    ]


def _quoted(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)


def _licence(counts: Mapping[str, int]) -> str:
    known = {LICENCES.get(licence.strip().lower(), "other") for licence in counts}
    return known.pop() if len(known) == 1 else "other"


def _size(samples: int) -> str:
    return next((name for most, name in SIZES if samples < most), "100K<n<1M")


def _body(manifest: Mapping[str, Any], statistics: Mapping[str, Any]) -> Iterator[str]:
    lengths, counts, balance = manifest["lengths"], statistics["counts"], statistics["balance"]
    yield from ("", f"# LongBench Pro {manifest['version']}", "")
    yield (
        f"{statistics['samples']} samples over {statistics['documents']['distinct']} documents, made together by people"
        f" and language models. Frozen {manifest['made_at']}."
    )
    yield from _warnings(manifest, statistics)
    yield from ("", "## How this release was made", "")
    yield (
        "Every document was cleared by a person before a model saw it. Questions were drafted by models, verified and"
        " edited by an annotator, audited by an expert, brought into the standardized prompts, answered by models and"
        " reviewed by two people who did not see each other's review; an expert decided where they differed."
        " Difficulty is read from three tiers of models. provenance.jsonl says so for each sample, with people as"
        " pseudonyms."
    )
    first, unit, tolerance = lengths["targets"][0], lengths["unit"], lengths["tolerance_percent"]
    yield from (
        "",
        f"The length {first}k stands for contexts of {first} times {unit} tokens, give or take {tolerance} %,",
    )
    yield f"counted by {manifest['tokenizer']}. Summaries were compared by {manifest['embedder']}."
    if not is_of_the_paper(manifest["embedder"]):
        yield (
            "The paper's summaries were compared by Qwen3-Embedding-8B: scores of summaries, and the difficulty of"
            " samples of the summary tasks, are not comparable with the paper's."
        )
    yield from ("", "## Fields", "")
    yield "`id`, `context`, `language`, `token_length`, `primary_task`, `secondary_task`, `contextual_requirement`,"
    yield "`question_nonthinking`, `question_thinking`, `answer` (one element per line of the expected reply; for"
    yield "summaries the references), `difficulty`."
    yield from ("", "## Balance", "")
    yield (
        f"{balance['cells'] - balance['cells_below_target']} of {balance['cells']} cells (task, language, length)"
        f" hold their target; {balance['target']} samples are the target in all."
    )
    for name, title in TITLES.items():
        yield from _table(name, title, counts[name])


def _warnings(manifest: Mapping[str, Any], statistics: Mapping[str, Any]) -> Iterator[str]:
    if not manifest["complete"]:
        yield from ("", "This release is incomplete: some cells hold fewer samples than their target.")
    if statistics["samples_by_simulated_models"]:
        count = statistics["samples_by_simulated_models"]
        yield from ("", f"{count} samples rest on answers or drafts of simulated models: for trying out only.")
    for name, values in statistics["without_samples"].items():
        if values:
            yield from ("", f"No sample has the {TITLES[name].lower()} {', '.join(values)}.")


def _table(name: str, title: str, counts: Mapping[str, int]) -> Iterator[str]:
    codes = {task.name: f"{task.code} {task.name}" for task in SECONDARY_TASKS} if name == "secondary_task" else {}
    yield from ("", f"### {title}", "", f"| {title} | Samples |", "|---|---:|")
    for value, count in counts.items():
        yield f"| {_cell(codes.get(value, value))} | {count} |"


def _cell(words: str) -> str:
    """What people typed, in a Markdown table: no line end, bar or tag of theirs is one of the table's."""
    plain = " ".join(words.split()) or "not said"
    return plain.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
