package dev.kagzi.torture;

import static dev.kagzi.torture.BankTrial.assertFound;
import static dev.kagzi.torture.BankTrial.fault;

import dev.kagzi.torture.BankFaults.Kind;
import org.junit.jupiter.api.Test;

/** The checker finds a planted fault. A class of its own, to run in parallel with others. */
class OutboxPlantTest {
  @Test
  void an_outbox_row_that_is_deleted_before_it_is_sent_is_found() {
    assertFound(
        BankRules.ROW_WITHOUT_START,
        BankPlant.SENT_EARLY,
        fault(Kind.KILL_WORKER, 0),
        fault(Kind.KILL_WORKER, 1));
  }
}
