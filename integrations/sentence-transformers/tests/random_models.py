"""Small models with random weights, saved as sentence-transformers saves them."""

import string
from pathlib import Path

import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

LETTERS = string.ascii_lowercase
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{each}" for each in LETTERS)]


def embedder(folder: Path, width: int = 32, seed: int = 0) -> Path:
    """Save a model that returns vectors of this many dimensions."""
    plain = bert(folder, BertModel, BertConfig(**shape(width)), seed)
    SentenceTransformer(str(plain), device="cpu").save(str(folder / "model"))
    return folder / "model"


def cross_encoder(folder: Path, outputs: int = 1, seed: int = 0) -> Path:
    """Save a model that scores a pair of texts by this many numbers."""
    config = BertConfig(**shape(32), num_labels=outputs, initializer_range=0.5)
    plain = bert(folder, BertForSequenceClassification, config, seed)
    CrossEncoder(str(plain), device="cpu").save_pretrained(str(folder / "model"))
    return folder / "model"


def shape(width: int) -> dict[str, int]:
    return {
        "vocab_size": len(VOCABULARY),
        "hidden_size": width,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 128,
    }


def bert(folder: Path, kind: type, config: BertConfig, seed: int) -> Path:
    """Save the network and its tokenizer as transformers does."""
    plain = folder / "plain"
    plain.mkdir(parents=True)
    vocabulary = plain / "vocab.txt"
    vocabulary.write_text("\n".join(VOCABULARY), encoding="utf-8")
    torch.manual_seed(seed)
    kind(config).save_pretrained(plain)
    BertTokenizerFast(str(vocabulary), model_max_length=128).save_pretrained(plain)
    return plain
