package dev.kagzi.torture;

import static dev.kagzi.torture.BankTrial.assertFound;

import dev.kagzi.torture.BankFaults.Kind;
import dev.kagzi.torture.BankTrial.Injected;
import org.junit.jupiter.api.Test;

/** The checker finds a planted fault. A class of its own, to run in parallel with others. */
class FencePlantTest {
  @Test
  void a_stale_worker_that_commits_without_a_fence_is_found() {
    assertFound(BankRules.ONCE, BankPlant.NO_FENCE, new Injected(Kind.PAUSE_WORKER, 0, 900));
  }
}
