package dev.kagzi.torture;

import static dev.kagzi.torture.BankTrial.assertFound;
import static dev.kagzi.torture.BankTrial.fault;

import dev.kagzi.torture.BankFaults.Kind;
import org.junit.jupiter.api.Test;

/** The checker finds a planted fault. A class of its own, to run in parallel with others. */
class BankPlantTest {
  @Test
  void a_result_that_is_stored_outside_of_the_transaction_is_found() {
    assertFound(BankRules.ONCE, BankPlant.RESULT_OUTSIDE, fault(Kind.KILL_WORKER, 0));
  }
}
