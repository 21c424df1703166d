package dev.kagzi.server.web.overview;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.query.Activity;
import dev.kagzi.engine.query.Health;
import dev.kagzi.engine.query.QueueView;
import dev.kagzi.engine.query.RunCount;
import dev.kagzi.engine.query.ServedType;
import dev.kagzi.engine.query.Stats;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.server.web.page.Links;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AttentionTest {
  private static final AttentionLimits LIMITS =
      new AttentionLimits(Duration.ofMinutes(1), 10, 5, Duration.ofMillis(200));
  private static final Health HEALTHY =
      new Health(
          Health.Level.HEALTHY, "", 1, List.of(), new EnumMap<>(Map.of(Health.Level.HEALTHY, 1L)));

  private List<QueueView> queues = List.of();
  private List<ServedType> served = List.of();
  private List<Activity.Crashing> crashing = List.of();
  private List<Activity.DisabledNamespace> disabled = List.of();

  private List<String> texts(boolean isDisabled) {
    Activity activity =
        new Activity(
            new Stats(new EnumMap<>(Map.of(RunStatus.PENDING, 1L)), Map.of(), 0, 0, 0, 0),
            queues,
            List.of(),
            List.of(),
            new RunCount(0, true),
            crashing,
            disabled,
            served,
            0,
            0,
            List.of());
    return new Attention.Finder(LIMITS, new Links("default"), isDisabled)
        .find(activity, HEALTHY).stream().map(Attention::text).toList();
  }

  private static QueueView queue(int workers, long slots, long free) {
    return new QueueView(
        "orders",
        1,
        0,
        0,
        new RunCount(1, true),
        120_000L,
        List.of(new QueueView.DueType("ship", "2")),
        workers,
        slots,
        free);
  }

  @Test
  void a_queue_without_workers_whose_type_another_queue_serves_asks_for_the_queue() {
    queues = List.of(queue(0, 0, 0));
    assertThat(texts(false)).singleElement().asString().endsWith("Start a worker for this queue.");

    served = List.of(new ServedType("shipping", "ship", "*", 1));
    assertThat(texts(false))
        .singleElement()
        .asString()
        .contains("Workers of queue shipping serve type ship: were the runs started on the wrong");
  }

  @Test
  void a_queue_that_is_behind_says_which_type_is_not_served() {
    queues = List.of(queue(1, 4, 4));
    served = List.of(new ServedType("orders", "ship", "1", 1));

    assertThat(texts(false))
        .containsExactly(
            "Queue orders is behind: 1 run has waited for a worker for 2 min."
                + " No worker of this queue serves type ship in version 2.");
  }

  @Test
  void a_queue_that_is_behind_says_that_all_slots_are_taken() {
    queues = List.of(queue(1, 4, 0));
    served = List.of(new ServedType("orders", "ship", "2", 1));
    assertThat(texts(false))
        .singleElement()
        .asString()
        .endsWith("All slots of its workers are taken (4): start more workers.");

    queues = List.of(queue(1, 4, 1));
    assertThat(texts(false))
        .singleElement()
        .asString()
        .endsWith("Its workers serve these runs. Open one of them to see what it waits for.");
  }

  @Test
  void a_disabled_namespace_says_that_its_runs_are_due() {
    queues = List.of(queue(0, 0, 0), queue(1, 1, 1));

    assertThat(texts(true))
        .containsExactly(
            "2 runs are due, the first of them for 2 min."
                + " They continue when the namespace is enabled.");
  }

  @Test
  void other_disabled_namespaces_with_due_runs_need_attention() {
    disabled =
        List.of(
            new Activity.DisabledNamespace("default", new RunCount(1, true), 1_000),
            new Activity.DisabledNamespace("shop-eu", new RunCount(100, false), 600_000));

    assertThat(texts(false))
        .containsExactly(
            "Namespace shop-eu is disabled, and 100+ runs are due in it, the first for 10 min."
                + " Enable it to let its runs continue.");
  }

  @Test
  void crashing_runs_are_counted() {
    crashing =
        List.of(new Activity.Crashing(RunId.next(), 7), new Activity.Crashing(RunId.next(), 2));

    assertThat(texts(false))
        .singleElement()
        .asString()
        .startsWith("2 runs have lost two or more workers in a row, one of them 7.");
  }
}
