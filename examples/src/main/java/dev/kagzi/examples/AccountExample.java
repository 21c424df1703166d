package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.util.Optional;

/**
 * An account that lives for years. Movements arrive as signals. After a few movements the run
 * continues as new, so that its history stays short. The next run gets the account as its input,
 * and the signals that are still waiting.
 */
final class AccountExample implements Example {
  record Account(String owner, long cents, int movements) {
    Account book(Movement movement) {
      return new Account(owner, cents + movement.cents(), movements + 1);
    }
  }

  /** A movement, or the last message to the account, which closes it. */
  record Movement(long cents, boolean closes) {}

  static final Signal<Movement> MOVEMENT = Signal.of("movement", Movement.class);
  static final WorkflowType<Account, String> ACCOUNT =
      WorkflowType.of("account", Account.class, String.class).queue("accounts");

  private static final int MOVEMENTS_PER_RUN = 3;
  private static final int MOVEMENTS = 10;

  static String live(WorkflowContext ctx, Account account) {
    Account now = account;
    for (int i = 0; i < MOVEMENTS_PER_RUN; i++) {
      Movement movement = ctx.receive(MOVEMENT);
      if (movement.closes()) {
        return now.owner() + " leaves with " + now.cents() + " cents";
      }
      now = now.book(movement);
    }
    return ctx.continueAsNew(now);
  }

  @Override
  public String about() {
    return "an account that lives for years: a run that continues as new";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker("accounts").workflow(ACCOUNT, AccountExample::live).start()) {
      RunHandle<String> account =
          kagzi.workflow(ACCOUNT).id("account-ann").start(new Account("ann", 0, 0));
      for (int i = 1; i <= MOVEMENTS; i++) {
        account.signal(MOVEMENT, new Movement(100L * i, false), "movement-" + i);
        // The sender is not sure and sends again: the movement is booked once.
        account.signal(MOVEMENT, new Movement(100L * i, false), "movement-" + i);
      }
      account.signal(MOVEMENT, new Movement(0, true));
      return account.result() + " after " + runs(account) + " runs";
    }
  }

  private static int runs(RunHandle<String> account) {
    int count = 1;
    for (Optional<RunHandle<String>> next = account.successor();
        next.isPresent();
        next = next.get().successor()) {
      count++;
    }
    return count;
  }
}
