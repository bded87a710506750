"""One episode as a service: what training frameworks call.

rollout.py            `balrog_rag.rollout`, and the engine that many rollouts share
rollout_request.py    what a caller sends, checked
rollout_spec.py       a request -> the spec of an episode
split_seeds.py        seeds of training and test splits that cannot share a game
endpoint.py           the caller's model server: one per rollout, with shared connections
rollout_result.py     what a caller gets: read from the journal
rollout_service.py    the same over HTTP (`balrog-rag serve`); service_http.py has its routes
"""
