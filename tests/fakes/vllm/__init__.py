"""The parts of the fake engine (tests/fakes/fake_vllm.py). Standard library only."""
