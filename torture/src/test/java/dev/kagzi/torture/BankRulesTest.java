package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.torture.BankEvidence.Movement;
import dev.kagzi.torture.BankEvidence.Run;
import dev.kagzi.torture.BankEvidence.StoredResult;
import dev.kagzi.torture.BankTellers.Outcome;
import dev.kagzi.torture.BankTransfer.Leg;
import dev.kagzi.torture.Findings.Violation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Each rule about the bank finds its violation; two transfers that were executed violate none. */
class BankRulesTest {
  private final Map<Integer, Outcome> outcomes = new HashMap<>();
  private final List<BankTransfer> orders = new ArrayList<>();
  private final List<Integer> approvals = new ArrayList<>();
  private final Map<Integer, Long> accounts = new HashMap<>();
  private final List<Movement> movements = new ArrayList<>();
  private final List<Run> runs = new ArrayList<>();
  private final List<StoredResult> results = new ArrayList<>();
  private final List<String> leftovers = new ArrayList<>();

  BankRulesTest() {
    for (int i = 1; i <= BankTransfer.ACCOUNTS; i++) {
      accounts.put(i, (long) BankTransfer.INITIAL_AMOUNT);
    }
    execute(new BankTransfer(1, 10, 20, 7, false), "none", 0);
    execute(new BankTransfer(2, 20, 30, 5, true), "approval-2", 1);
    approvals.add(2);
  }

  private void execute(BankTransfer transfer, String approval, int signals) {
    int number = transfer.number();
    outcomes.put(number, Outcome.COMMITTED);
    orders.add(transfer);
    for (Leg leg : Leg.values()) {
      move(transfer, leg, leg + "-" + number);
      results.add(new StoredResult("run-" + number, leg, true));
    }
    runs.add(
        new Run(
            number,
            "run-" + number,
            "COMPLETED",
            "DEBIT-%d %s CREDIT-%d".formatted(number, approval, number),
            signals));
  }

  private void move(BankTransfer transfer, Leg leg, String token) {
    accounts.merge(leg.account(transfer), (long) leg.amount(transfer), Long::sum);
    movements.add(
        new Movement(transfer.number(), leg, leg.account(transfer), leg.amount(transfer), token));
  }

  private List<String> violated() {
    return BankRules.check(
            new BankEvidence(
                outcomes, orders, approvals, accounts, movements, runs, results, leftovers))
        .stream()
        .map(Violation::rule)
        .distinct()
        .toList();
  }

  @Test
  void executed_transfers_violate_nothing() {
    outcomes.put(3, Outcome.ABANDONED);
    outcomes.put(4, Outcome.UNKNOWN);

    assertThat(violated()).isEmpty();
  }

  @Test
  void a_debit_that_is_executed_twice_is_found() {
    move(orders.getFirst(), Leg.DEBIT, "again");

    assertThat(violated()).contains(BankRules.SUM, BankRules.ONCE, BankRules.RESULT);
  }

  @Test
  void a_transfer_that_is_executed_twice_is_found_although_the_sum_is_right() {
    move(orders.getFirst(), Leg.DEBIT, "again");
    move(orders.getFirst(), Leg.CREDIT, "again");

    assertThat(violated()).contains(BankRules.ONCE).doesNotContain(BankRules.SUM);
  }

  @Test
  void a_missing_credit_is_found() {
    accounts.merge(20, -7L, Long::sum);
    movements.remove(1);

    assertThat(violated()).contains(BankRules.SUM, BankRules.ONCE);
  }

  @Test
  void a_lost_update_of_an_account_is_found() {
    accounts.merge(20, -1L, Long::sum);
    accounts.merge(30, 1L, Long::sum);

    assertThat(violated()).containsExactly(BankRules.ACCOUNTS);
  }

  @Test
  void an_order_without_a_run_is_found() {
    orders.add(new BankTransfer(3, 1, 2, 1, false));

    assertThat(violated()).contains(BankRules.ROW_WITHOUT_START);
  }

  @Test
  void a_run_without_an_order_is_found() {
    orders.removeFirst();

    assertThat(violated()).containsExactly(BankRules.START_WITHOUT_ROW, BankRules.COMMIT);
  }

  @Test
  void two_runs_of_one_order_are_found() {
    runs.add(new Run(1, "run-1", "COMPLETED", "DEBIT-1 none CREDIT-1", 0));

    assertThat(violated()).containsExactly(BankRules.ROW_WITHOUT_START);
  }

  @Test
  void a_result_of_another_execution_is_found() {
    runs.set(0, new Run(1, "run-1", "COMPLETED", "stale none CREDIT-1", 0));

    assertThat(violated()).containsExactly(BankRules.RESULT);
  }

  @Test
  void a_missing_stored_result_is_found() {
    results.set(0, new StoredResult("run-1", Leg.DEBIT, false));

    assertThat(violated()).containsExactly(BankRules.STORED);
  }

  @Test
  void an_order_that_was_rolled_back_and_exists_is_found() {
    outcomes.put(1, Outcome.ABANDONED);

    assertThat(violated()).containsExactly(BankRules.COMMIT);
  }

  @Test
  void a_signal_without_its_approval_and_an_approval_without_its_signal_are_found() {
    runs.set(0, new Run(1, "run-1", "COMPLETED", "DEBIT-1 none CREDIT-1", 1));
    assertThat(violated()).containsExactly(BankRules.SIGNAL);
    runs.set(0, new Run(1, "run-1", "COMPLETED", "DEBIT-1 none CREDIT-1", 0));

    approvals.add(2);

    assertThat(violated()).containsExactly(BankRules.SIGNAL);
  }

  @Test
  void a_request_that_is_left_is_found() {
    leftovers.add("start request of transfer-3: open");

    assertThat(violated()).containsExactly(BankRules.LEFT);
  }
}
