package dev.kagzi.torture;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import dev.kagzi.torture.BankEvidence.Movement;
import dev.kagzi.torture.BankEvidence.Run;
import dev.kagzi.torture.BankEvidence.StoredResult;
import dev.kagzi.torture.BankTellers.Outcome;
import dev.kagzi.torture.BankTransfer.Leg;
import dev.kagzi.torture.Findings.Violation;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** Checks what the torture test of the bank has left behind. */
final class BankRules {
  static final String SUM = "the sum is right";
  static final String ACCOUNTS = "an account is the sum of its movements";
  static final String ONCE = "each transfer exactly once";
  static final String ROW_WITHOUT_START = "no row without its start";
  static final String START_WITHOUT_ROW = "no start without its row";
  static final String RESULT = "a result is that of the committed transaction";
  static final String STORED = "each step has its result in kagzi_steps";
  static final String COMMIT = "a commit that was acknowledged is there";
  static final String SIGNAL = "one signal for each approval";
  static final String LEFT = "everything that was written is executed";

  private final BankEvidence evidence;
  private final Map<Integer, List<Movement>> movements;
  private final Map<Integer, List<Run>> runs;
  private final Map<Integer, List<BankTransfer>> orders;
  private final Findings findings = new Findings();

  private BankRules(BankEvidence evidence) {
    this.evidence = evidence;
    this.movements = by(evidence.movements(), Movement::number);
    this.runs = by(evidence.runs(), Run::number);
    this.orders = by(evidence.orders(), BankTransfer::number);
  }

  private static <T> Map<Integer, List<T>> by(List<T> all, Function<T, Integer> number) {
    return all.stream().collect(groupingBy(number));
  }

  static List<Violation> check(BankEvidence evidence) {
    BankRules rules = new BankRules(evidence);
    rules.checkAmounts();
    rules.orders.values().forEach(rules::checkOrder);
    rules.checkRows();
    rules.checkOutcomes();
    rules.checkSignals();
    evidence.leftovers().forEach(each -> rules.findings.add(LEFT, "none", each));
    return rules.findings.violations();
  }

  private void checkAmounts() {
    long sum = evidence.accounts().values().stream().mapToLong(Long::longValue).sum();
    long expected = (long) BankTransfer.ACCOUNTS * BankTransfer.INITIAL_AMOUNT;
    if (sum != expected) {
      findings.add(SUM, "all", "%d (expected: %d)".formatted(sum, expected));
    }
    Map<Integer, Long> moved = new HashMap<>();
    evidence
        .movements()
        .forEach(each -> moved.merge(each.account(), (long) each.amount(), Long::sum));
    evidence
        .accounts()
        .forEach(
            (account, amount) -> {
              long wanted = BankTransfer.INITIAL_AMOUNT + moved.getOrDefault(account, 0L);
              if (amount != wanted) {
                findings.add(
                    ACCOUNTS, "account " + account, "%d (expected: %d)".formatted(amount, wanted));
              }
            });
  }

  private void checkOrder(List<BankTransfer> same) {
    BankTransfer order = same.getFirst();
    if (same.size() > 1) {
      findings.add(ONCE, order.id(), "ordered " + same.size() + " times");
    }
    List<Run> started = runs.getOrDefault(order.number(), List.of());
    if (started.size() != 1 || !started.getFirst().status().equals("COMPLETED")) {
      findings.add(
          ROW_WITHOUT_START, order.id(), "its runs: %s (expected: one)".formatted(started));
    }
    for (Leg leg : Leg.values()) {
      checkLeg(order, leg);
    }
    started.forEach(run -> checkResult(order, run));
  }

  private void checkLeg(BankTransfer order, Leg leg) {
    List<Movement> moved = of(order.number(), leg);
    Movement last = moved.isEmpty() ? null : moved.getLast();
    if (last == null
        || moved.size() > 1
        || last.account() != leg.account(order)
        || last.amount() != leg.amount(order)) {
      findings.add(
          ONCE,
          order.id(),
          "%s of %d at account %d: %s"
              .formatted(leg, leg.amount(order), leg.account(order), moved));
    }
  }

  private List<Movement> of(int number, Leg leg) {
    return movements.getOrDefault(number, List.of()).stream()
        .filter(each -> each.leg() == leg)
        .toList();
  }

  private void checkResult(BankTransfer order, Run run) {
    String approval = order.needsApproval() ? "approval-" + order.number() : "none";
    String expected =
        "%s %s %s".formatted(token(order, Leg.DEBIT), approval, token(order, Leg.CREDIT));
    if (!run.output().equals(expected)) {
      findings.add(
          RESULT, order.id(), "%s returned (expected: %s)".formatted(run.output(), expected));
    }
  }

  private String token(BankTransfer order, Leg leg) {
    return of(order.number(), leg).stream().map(Movement::token).reduce("", String::concat);
  }

  private void checkRows() {
    Map<Integer, List<?>> written = new HashMap<>(runs);
    written.putAll(movements);
    written.forEach(
        (number, rows) -> {
          if (!orders.containsKey(number)) {
            findings.add(START_WITHOUT_ROW, "transfer-" + number, "no order, but " + rows);
          }
        });
    Set<StoredResult> results = new HashSet<>(evidence.results());
    for (Run run : evidence.runs()) {
      for (Leg leg : Leg.values()) {
        if (!results.contains(new StoredResult(run.runId(), leg, true))) {
          findings.add(STORED, "transfer-" + run.number(), "no result of " + leg);
        }
      }
    }
  }

  private void checkOutcomes() {
    evidence
        .outcomes()
        .forEach(
            (number, outcome) -> {
              boolean isThere = orders.containsKey(number);
              if ((outcome == Outcome.COMMITTED && !isThere)
                  || (outcome == Outcome.ABANDONED && isThere)) {
                findings.add(
                    COMMIT,
                    "transfer-" + number,
                    "%s, and its order %s".formatted(outcome, isThere ? "exists" : "is missing"));
              }
            });
  }

  private void checkSignals() {
    Map<Integer, Long> approvals =
        evidence.approvals().stream().collect(groupingBy(number -> number, counting()));
    for (Run run : evidence.runs()) {
      long approved = approvals.getOrDefault(run.number(), 0L);
      if (run.signals() != approved) {
        findings.add(
            SIGNAL,
            "transfer-" + run.number(),
            "%d signals (expected: %d)".formatted(run.signals(), approved));
      }
    }
  }
}
