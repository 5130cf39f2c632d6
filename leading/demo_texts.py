"""Documents for the demo: what lies on every machine with Python, and chronicles written for the purpose.

English: the topics of Python's own language reference, which every Python brings along (PSF licence).
Chinese: the chronicle of a harbour that does not exist, told entry by entry from a seed (CC0).
Each is cut after a paragraph so that its tokens fall into the wanted bucket.
For a whole benchmark, both languages have chronicles of any length and number (CC0).
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from benchmark.lengths import Lengths
from benchmark.taxonomy import Language


@dataclass(frozen=True)
class DemoText:
    title: str
    language: Language
    bucket: str
    domain: str
    format: str
    multi: bool
    licence: str
    text: str


def fit(paragraphs: Sequence[str], *, wanted: int, count: Callable[[str], int]) -> str:
    """As many whole paragraphs as stay within `wanted` tokens."""
    low, high = 1, len(paragraphs)
    while low < high:
        middle = (low + high + 1) // 2
        if count("\n\n".join(paragraphs[:middle])) <= wanted:
            low = middle
        else:
            high = middle - 1
    return "\n\n".join(paragraphs[:low]) + "\n"


def reference_paragraphs(first: str) -> list[str]:
    """Python's language reference as paragraphs, beginning with the topic `first`."""
    from pydoc_data.topics import topics  # noqa: PLC0415 -- half a megabyte, for the demo only

    names = sorted(topics)
    start = names.index(first) if first in names else 0
    text = "\n\n".join(topics[name].strip() for name in names[start:] + names[:start])
    return [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]


SHIPS = ("苍鹭号", "燕鸥号", "金盏号", "白帆号", "海狮号", "远岫号", "青禾号", "晨星号", "渔火号", "归云号")
PEOPLE = ("陆掌事", "沈书办", "顾船主", "林税吏", "程领航", "何仓头", "杜医士", "许巡检", "魏工头", "苏账房")
GOODS = ("海盐", "桐油", "生丝", "稻米", "瓷器", "茶叶", "铁锚", "木料", "药材", "纸张")
PLACES = ("北堤", "南仓", "旧码头", "灯塔", "税关", "鱼市", "桥头", "船坞", "盐场", "驿馆")
WEATHER = (
    "晴，微风",
    "阴，东北风",
    "小雨，潮高",
    "大雾，停航半日",
    "骤雨，闭港两个时辰",
    "晴，西风转南",
    "夜有雷，晨霁",
)
CAUSES = ("缆绳朽断", "潮水误报", "货单缺页", "仓钥遗失", "领航迟到", "秤砣不准", "渡船漏水", "灯油不足")
ACTS = (
    "{ship}载{goods}{number}担入港，泊于{place}，由{person}验讫，收税{fee}钱。",
    "{person}报称{place}因{cause}停工，{ship}只得候潮，误期{days}日。",
    "{ship}欠缴滞纳金{fee}钱，{person}限其{days}日内补足，逾期加倍。",
    "{person}与{other}于{place}核对账册，见{goods}短少{number}担，原因是{cause}。",
    "{ship}离港往北，带走{goods}{number}担，{person}记其吃水深{days}尺。",
    "{place}失火，{person}率{number}人扑救，焚毁{goods}若干，{ship}无恙。",
    "议定自即日起，凡在{place}卸{goods}者，每担减税一钱，{person}附署，{other}不从。",
    "{other}递呈状，言{person}在{place}多收{ship}税款{fee}钱，县署批示复核。",
    "{ship}与{second}在{place}外相擦，各损船板，{person}断定由{second}赔银{fee}钱。",
    "{person}巡视{place}，见{goods}露天堆放{days}日，责令入仓。",
)
TURNS = (
    "当夜议事，众人以为此事前月已有先例，不宜再宽。",
    "此后数日无他事，唯潮信渐早。",
    "账房另立一册，以红签标记，备年终核查。",
    "有老船工言，二十年前亦曾如此，后竟无人追究。",
    "县署未置可否，只令将原件抄存。",
    "次日风止，各船依号出入，秩序如常。",
)


def chronicle_paragraphs(*, seed: int, entries: int = 4000) -> list[str]:
    """The entries of the chronicle, one paragraph each, numbered and dated; the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 -- a story, not a secret
    paragraphs = ["临港航务纪要", "本纪要按日记录临港船只往来、税务、仓储与争讼之事，每条冠以编号，条内不分先后。"]
    month, day, year = 1, 0, 12
    for number in range(1, entries + 1):
        day += chance.randint(1, 2)
        if day > 29:
            day, month = 1, month + 1
        if month > 12:
            month, year = 1, year + 1
            paragraphs.append(f"第{year}年")
        sentences = [act(chance) for _sentence in range(chance.randint(2, 4))]
        if chance.random() < 0.4:
            sentences.append(chance.choice(TURNS))
        paragraphs.append(f"第{number}条　{month}月{day}日，{chance.choice(WEATHER)}。" + "".join(sentences))
    return paragraphs


def act(chance: random.Random) -> str:
    ship, second = chance.sample(SHIPS, 2)
    person, other = chance.sample(PEOPLE, 2)
    return chance.choice(ACTS).format(
        ship=ship,
        second=second,
        person=person,
        other=other,
        goods=chance.choice(GOODS),
        place=chance.choice(PLACES),
        cause=chance.choice(CAUSES),
        number=chance.randint(3, 240),
        fee=chance.randint(2, 90),
        days=chance.randint(1, 9),
    )


def demo_texts(count: Callable[[str], int]) -> list[DemoText]:
    """The demo's documents: both languages, four buckets each."""
    made = []
    for bucket, target, topic, seed in (
        ("8k", 8, "compound", 7),
        ("16k", 16, "numbers", 11),
        ("32k", 32, "sequence-types", 13),
        ("64k", 64, "attribute-access", 17),
    ):
        wanted = target * 1024
        made += [
            DemoText(
                title=f"The Python language reference, from “{topic}”",
                language=Language.ENGLISH,
                bucket=bucket,
                domain="science",
                format="report",
                multi=True,
                licence="PSF-2.0",
                text=fit(reference_paragraphs(topic), wanted=wanted, count=count),
            ),
            DemoText(
                title=f"临港航务纪要（{seed}）",
                language=Language.CHINESE,
                bucket=bucket,
                domain="literature",
                format="list",
                multi=False,
                licence="CC0-1.0",
                text=fit(chronicle_paragraphs(seed=seed), wanted=wanted, count=count),
            ),
        ]
    return made


# Any number of documents -------------------------------------------------------------------------------------------

SHIPS_EN = (
    "Marigold",
    "Heron",
    "Tern",
    "Kestrel",
    "Juniper",
    "Larkspur",
    "Windrush",
    "Foxglove",
    "Petrel",
    "Merlin",
    "Halcyon",
    "Sorrel",
)
PEOPLE_EN = (
    "Aldous",
    "Berwick",
    "Carden",
    "Dunmore",
    "Easton",
    "Fairley",
    "Garrick",
    "Holbrook",
    "Ibbot",
    "Jardine",
    "Kempton",
    "Lorimer",
)
GOODS_EN = (
    "barley",
    "copper",
    "timber",
    "wool",
    "salt",
    "herring",
    "tallow",
    "canvas",
    "indigo",
    "slate",
    "cider",
    "rope",
)
PLACES_EN = (
    "the northern quay",
    "the customs house",
    "the rope walk",
    "the old dock",
    "the lighthouse",
    "the fish market",
    "the eastern warehouse",
    "the drydock",
)
CAUSES_EN = (
    "a rotten hawser",
    "a missing bill of lading",
    "an error in the tide table",
    "a lost key",
    "false weights",
    "a leaking ferry",
)
ACTS_EN = (
    "The {ship} landed {number} casks of {goods} at {place}; {person} examined them and took {fee} crowns in duty.",
    "{person} reported that work at {place} had stopped because of {cause}, so the {ship} lost {days} days.",
    "The {ship} owed {fee} crowns in late fees, which {person} ordered to be paid within {days} days.",
    "{person} and {other} compared the ledgers at {place} and found {number} casks of {goods} wanting through {cause}.",
    "Bound north, the {ship} took {number} bales of {goods}, and {person} wrote down a draught of {days} feet.",
    "A fire broke out at {place}; {person} led {number} hands against it, and the {ship} was towed clear.",
    "From this day, all {goods} landed at {place} pays one crown less; {person} signed, {other} would not.",
    "{other} complained in writing that {person} had charged the {ship} {fee} crowns too much at {place}.",
    "The {ship} and the {second} touched off {place}; {person} held the {second} liable for {fee} crowns.",
    "{person} saw {goods} lying uncovered at {place} for {days} days and had it brought under a roof.",
)
WEATHER_EN = (
    "Clear, light wind",
    "Rain from noon",
    "Fog, no traffic",
    "Gale, harbour closed",
    "Frost",
    "Warm and still",
)


def harbour_paragraphs(chance: random.Random) -> Iterator[str]:
    """The entries of an English harbour log, one paragraph each, without end."""
    yield "Log of the harbour office"
    for number in count(1):
        sentences = [_act_in_english(chance) for _sentence in range(chance.randint(2, 4))]
        yield f"Entry {number}. {chance.choice(WEATHER_EN)}. {' '.join(sentences)}"


def _act_in_english(chance: random.Random) -> str:
    ship, second = chance.sample(SHIPS_EN, 2)
    person, other = chance.sample(PEOPLE_EN, 2)
    return chance.choice(ACTS_EN).format(
        ship=ship,
        second=second,
        person=person,
        other=other,
        goods=chance.choice(GOODS_EN),
        place=chance.choice(PLACES_EN),
        cause=chance.choice(CAUSES_EN),
        number=chance.randint(3, 240),
        fee=chance.randint(2, 90),
        days=chance.randint(2, 9),
    )


def written_texts(lengths: Lengths, tokens_of: Callable[[str], int]) -> Iterator[DemoText]:
    """Documents without end, one for each language and length in turn, the short ones first; the same every time."""
    for number in count(1):
        for target, bucket in zip(lengths.targets, lengths.names(), strict=True):
            for language in Language:
                chance = random.Random(f"{number} {bucket} {language}")  # noqa: S311 -- a story, not a secret
                wanted = int(target * lengths.unit * chance.uniform(0.88, 1.08))
                yield _written(number, bucket, language, chance, wanted, tokens_of)


def _written(
    number: int, bucket: str, language: Language, chance: random.Random, wanted: int, tokens_of: Callable[[str], int]
) -> DemoText:
    if language is Language.CHINESE:
        paragraphs = iter(chronicle_paragraphs(seed=chance.randrange(10**9), entries=wanted // 40))
    else:
        paragraphs = harbour_paragraphs(chance)
    taken, tokens = list[str](), 0
    while tokens < wanted and (paragraph := next(paragraphs, "")):
        taken.append(paragraph)
        tokens += tokens_of(paragraph) + 1
    chinese = language is Language.CHINESE
    return DemoText(
        title=f"临港航务纪要，{bucket} 第{number}卷"
        if chinese
        else f"Log of the harbour office, {bucket}, volume {number}",
        language=language,
        bucket=bucket,
        domain="literature" if chinese else "law",
        format="list" if chinese else "report",
        multi=False,
        licence="CC0-1.0",
        text="\n\n".join(taken) + "\n",
    )
