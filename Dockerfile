# An image that plays: docker build -t balrog_rag . && docker run --rm -v "$PWD/results:/data/results" balrog_rag run agent=random
FROM python:3.12-slim-bookworm
# These only build; a release of Debian keeps one version of each.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential cmake flex bison libbz2-dev git \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY pyproject.toml requirements-hashed.txt README.md LICENSE ./
COPY balrog_rag balrog_rag
COPY conf conf
COPY wiki_index wiki_index
COPY eval eval
RUN pip install --no-cache-dir --require-hashes -r requirements-hashed.txt && pip install --no-cache-dir --no-deps .
RUN useradd --create-home --uid 1000 player && mkdir -p /data && chown player /data
USER 1000
WORKDIR /data
ENV BALROG_RAG_CACHE=/data/cache
ENTRYPOINT ["balrog-rag"]
CMD ["doctor"]
