"""The parts of tools/cluster_trial.py."""
