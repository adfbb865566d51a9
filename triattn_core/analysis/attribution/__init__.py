"""Attribution: which tokens drive a prediction, and tests of faithfulness."""
