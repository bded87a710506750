"""Which built-in plug-ins exist: names, and where each is defined.

Importing `balrog_rag` declares them. The registries are at the bottom of the package and must not know what
is above them; this module is at the top.
"""

from balrog_rag.contracts import registry

registry.agents.declare(
    {
        "naive": "balrog_rag.agents.naive:Naive",
        "cot": "balrog_rag.agents.cot:ChainOfThought",
        "robust_naive": "balrog_rag.agents.robust:RobustNaive",
        "robust_cot": "balrog_rag.agents.robust:RobustChainOfThought",
        "robust_star": "balrog_rag.agents.robust:RobustStar",
        "few_shot": "balrog_rag.agents.few_shot:FewShot",
        "netplay": "balrog_rag.agents.netplay:NetPlay",
        "netplay_guided": "balrog_rag.agents.netplay:GuidedNetPlay",
        "floor_random": "balrog_rag.bots.floor:RandomFloor",
        "floor_rule": "balrog_rag.bots.floor:RuleFloor",
        "code": "balrog_rag.agents.code:Code",
        "reader": "balrog_rag.agents.literal_reader:LiteralReader",
        "own_class": "balrog_rag.agents.own_class:OwnClass",
        "own_loop": "balrog_rag.agents.own_loop:OwnLoop",
        "human": "balrog_rag.agents.own_loop:Human",
    },
)
registry.programs.declare(
    {
        "random": "balrog_rag.agents.random:RANDOM",
        "dummy": "balrog_rag.agents.dummy:DUMMY",
        "delver": "balrog_rag.bots.nethack.delver:DELVER",
        "handcrafted": "balrog_rag.bots.nethack.netplay.handcrafted:HANDCRAFTED",
        "best": "balrog_rag.bots.best:BEST_PLAYER",
        "minihacker": "balrog_rag.bots.nethack.minihacker:MINIHACKER",
        "dig_down": "balrog_rag.bots.nethack.skills.offered:DIG_DOWN",
        "see_level": "balrog_rag.bots.nethack.skills.offered:SEE_LEVEL",
        "hold_out": "balrog_rag.bots.nethack.skills.offered:HOLD_OUT",
        "strike": "balrog_rag.bots.nethack.skills.offered:STRIKE",
        "pray_when_due": "balrog_rag.bots.nethack.skills.offered:PRAY_WHEN_DUE",
        "advance_skill": "balrog_rag.bots.nethack.skills.offered:ADVANCE_SKILL",
        "program": "balrog_rag.bots.nethack.guests:PROGRAM",
        "policy": "balrog_rag.bots.nethack.guests:POLICY",
        "autoascend": "balrog_rag.bots.nethack.guests:AUTOASCEND",
        "checkpoint": "balrog_rag.dataset.learn.checkpoint_player:CHECKPOINT",
        "follow_rules": "balrog_rag.bots.nethack.reader:FOLLOW_RULES",
        "run_code": "balrog_rag.code_actions.code_program:RUN_CODE",
        "scripted": "balrog_rag.envs.scripted_players:SCRIPTED",
    },
)
registry.models.declare(
    {
        "scripted": "balrog_rag.models.scripted:ScriptedModel",
        "litellm": "balrog_rag.models.client:RemoteModel",
        "local": "balrog_rag.models.local:LocalModel",
        "replay": "balrog_rag.models.replaying:ReplayingModel",
        "client": "balrog_rag.models.client_answers:ClientAnswers",
    },
)
registry.environments.declare(
    {
        "nle": "balrog_rag.envs.nethack.kind:NETHACK",
        "minihack": "balrog_rag.envs.minihack.kind:MINIHACK",
        "netplay": "balrog_rag.bots.nethack.netplay.scenarios.kind:NETPLAY",
        "nethackers": "balrog_rag.envs.nethackers.kind:NETHACKERS",
        "decisions": "balrog_rag.envs.decisions.kind:DECISIONS",
        "babyai": "balrog_rag.envs.babyai.kind:BABYAI",
        "babaisai": "balrog_rag.envs.babaisai.kind:BABAISAI",
        "crafter": "balrog_rag.envs.crafter.kind:CRAFTER",
        "textworld": "balrog_rag.envs.textworld.kind:TEXTWORLD",
    },
)
registry.embedders.declare(
    {
        "minilm": "balrog_rag.knowledge.embed.minilm:MiniLM",
        "sentence_transformers": "balrog_rag.knowledge.embed.sentence_transformers:SentenceTransformers",
        "litellm": "balrog_rag.knowledge.embed.litellm_embedder:LiteLLMEmbedder",
    },
)
registry.indexes.declare(
    {
        "flat_ip": "balrog_rag.knowledge.index.faiss_indexes:FlatIP",
        "flat_l2": "balrog_rag.knowledge.index.faiss_indexes:FlatL2",
        "hnsw": "balrog_rag.knowledge.index.faiss_indexes:HNSW",
        "ivf_pq": "balrog_rag.knowledge.index.faiss_indexes:IVFPQ",
        "bm25": "balrog_rag.knowledge.index.bm25:BM25",
        "hybrid": "balrog_rag.knowledge.index.hybrid:Hybrid",
        "by_size": "balrog_rag.knowledge.index.index_by_size:BySize",
    },
)
registry.corpora.declare(
    {
        "embedded": "balrog_rag.knowledge.corpus.embedded:pages",
        "minihack": "balrog_rag.knowledge.corpus.minihack_docs:pages",
        "nethackwiki": "balrog_rag.knowledge.corpus.mediawiki:pages",
        "nethack_common": "balrog_rag.knowledge.corpus.nethack_common:pages",
        "spoilers": "balrog_rag.knowledge.corpus.spoilers:pages",
        "folder": "balrog_rag.knowledge.corpus.text_files:pages",
    },
)
registry.rerankers.declare(
    {
        "features": "balrog_rag.knowledge.rerank.feature_reranker:FeatureReranker",
        "litellm": "balrog_rag.knowledge.rerank.litellm_reranker:LiteLLMReranker",
        "sentence_transformers": "balrog_rag.knowledge.rerank.cross_encoder:CrossEncoderReranker",
    },
)
registry.watchers.declare(
    {
        "jsonl": "balrog_rag.tracking.jsonl_tracker:JsonlTracker",
        "wandb": "balrog_rag.tracking.wandb_tracker:WandbTracker",
        "mlflow": "balrog_rag.tracking.mlflow_tracker:MlflowTracker",
        "otel": "balrog_rag.tracking.otel_tracker:OtelTracker",
    }
)
registry.commands.declare(
    {
        "knowledge endings": "balrog_rag.studies.study_commands:ENDINGS",
        "knowledge questions": "balrog_rag.studies.study_commands:QUESTIONS",
        "knowledge judge": "balrog_rag.studies.study_commands:JUDGE",
        "knowledge gate": "balrog_rag.studies.study_commands:GATE",
    }
)
registry.skill_sets.declare(
    {
        "skills": "balrog_rag.bots.nethack.netplay.skills:skills",
        "plan": "balrog_rag.bots.nethack.plan.plan_offered:plan_skills",
    }
)
registry.advisers.declare({"plan": "balrog_rag.bots.nethack.plan.plan_advice:advice"})
