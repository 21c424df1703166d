package dev.kagzi.examples.docs;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/continue-as-new.md. */
@ExtendWith(KagziExtension.class)
class ContinueAsNewDocsTest {
  static final Signal<Movement> MOVEMENT = Signal.of("movement", Movement.class);
  static final WorkflowType<Account, Account> ACCOUNT =
      WorkflowType.of("account", Account.class, Account.class).queue("accounts");

  // docs: continue-as-new.md
  record Movement(long cents, boolean closes) {}

  record Account(String owner, long cents, int year) {
    Account book(Movement movement) {
      return new Account(owner, cents + movement.cents(), year);
    }

    Account nextYear() {
      return new Account(owner, cents + cents / 50, year + 1);
    }
  }

  static Account account(WorkflowContext ctx, Account account) {
    Account now = account;
    for (int month = 1; month <= 12; month++) {
      Optional<Movement> movement = ctx.receive(MOVEMENT, Duration.ofDays(30));
      if (movement.isPresent() && movement.get().closes()) {
        return now;
      }
      now = movement.map(now::book).orElse(now);
    }
    return ctx.continueAsNew(now.nextYear());
  }

  // end

  // docs: continue-as-new.md
  static Account lastYear(WorkflowContext ctx, Account account) {
    Optional<Movement> last = ctx.receive(MOVEMENT, Duration.ofDays(365));
    Account now = last.map(account::book).orElse(account);
    return ctx.continueAsNewWithVersion("2", now.nextYear());
  }

  // end

  @Test
  void an_account_continues_each_year(KagziEnv env) {
    Kagzi kagzi = env.kagzi();
    env.worker("accounts").workflow(ACCOUNT, ContinueAsNewDocsTest::account).start();
    // docs: continue-as-new.md
    RunHandle<Account> account =
        kagzi.workflow(ACCOUNT).id("account-ann").start(new Account("ann", 1_000, 1));
    account.signal(MOVEMENT, new Movement(500, false));
    env.advance(Duration.ofDays(365));

    assertThat(account).continuedAsNew().isSleeping();
    account.signal(MOVEMENT, new Movement(0, true));
    assertThat(account).completedWith(new Account("ann", 1_530, 2));
    // end
  }

  @Test
  void a_run_continues_with_another_version(KagziEnv env) {
    env.worker("accounts")
        .workflow(ACCOUNT, ContinueAsNewDocsTest::lastYear)
        .workflow(ACCOUNT.version("2"), (ctx, account) -> account.nextYear())
        .start();
    RunHandle<Account> run = env.kagzi().workflow(ACCOUNT).start(new Account("ann", 100, 1));

    run.signal(MOVEMENT, new Movement(0, true));

    assertThat(run).completedWith(new Account("ann", 104, 3));
    assertThat(run.successor().orElseThrow().info().version()).isEqualTo("2");
  }
}
