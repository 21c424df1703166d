package dev.kagzi.engine.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The claims that a server has dispatched. */
class ClaimRegistryTest {
  private static final QueueName QUEUE = new QueueName("default", "q");

  private final ClaimRegistry registry = new ClaimRegistry();
  private final WorkerId first = WorkerId.next();
  private final WorkerId second = WorkerId.next();
  private final RunId run = RunId.next();

  @Test
  void a_claim_that_is_added_again_keeps_its_entry() {
    Claim claim = new Claim(run, 1);

    boolean added = registry.add(first, claim, QUEUE);
    boolean again = registry.add(second, claim, QUEUE);

    assertThat(added).isTrue();
    assertThat(again).isFalse();
    assertThat(unlisted(first)).containsExactly(claim);
    assertThat(unlisted(second)).isEmpty();
  }

  @Test
  void the_next_claim_of_a_run_replaces_the_entry() {
    registry.add(first, new Claim(run, 1), QUEUE);

    boolean added = registry.add(second, new Claim(run, 2), QUEUE);

    assertThat(added).isTrue();
    assertThat(unlisted(first)).isEmpty();
    assertThat(unlisted(second)).containsExactly(new Claim(run, 2));
  }

  private List<Claim> unlisted(WorkerId worker) {
    return registry.unlisted(worker, List.of(), System.nanoTime() + TimeUnit.SECONDS.toNanos(1));
  }
}
