"""Rules on what makes a run leave the policy that sampled its rollouts."""
