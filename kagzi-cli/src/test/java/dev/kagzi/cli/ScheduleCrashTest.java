package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.ScheduleInfo;
import dev.kagzi.sdk.WorkflowType;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A schedule of every second on a server that is killed and started again a while later. */
class ScheduleCrashTest {
  private static final WorkflowType<String, String> TICK =
      WorkflowType.of("tick", String.class, String.class).queue("ticks");
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final Duration AWAY = Duration.ofSeconds(3);

  @Test
  void every_second_has_one_run_although_the_server_was_away(@TempDir Path folder)
      throws Exception {
    try (DevProcess dev = DevProcess.start(folder);
        Kagzi kagzi = connect(dev)) {
      kagzi.schedule("ticks").workflow(TICK).cron("* * * * * *").input("tick").create();
      awaitRuns(kagzi, 3);

      dev.kill();
      dev.awaitExit();
    }
    Awaitility.await().pollDelay(AWAY).until(() -> true);

    List<Instant> slots;
    try (DevProcess dev = DevProcess.start(folder);
        Kagzi kagzi = connect(dev)) {
      long before = kagzi.schedule("ticks").get().totalRuns();
      awaitRuns(kagzi, before + 4);
      ScheduleInfo paused = kagzi.schedule("ticks").pause();
      slots = slots(kagzi, paused.id());
      assertThat(paused.missedRuns()).isZero();
      assertThat(paused.totalRuns()).isEqualTo(slots.size());
    }

    List<Instant> everySecond = new ArrayList<>();
    for (int i = 0; i < slots.size(); i++) {
      everySecond.add(slots.getFirst().plusSeconds(i));
    }
    assertThat(slots).hasSizeGreaterThan(9).isEqualTo(everySecond);
  }

  private static Kagzi connect(DevProcess dev) {
    return Kagzi.connect("127.0.0.1:" + dev.grpcPort());
  }

  private static void awaitRuns(Kagzi kagzi, long runs) {
    Awaitility.await().atMost(SOON).until(() -> kagzi.schedule("ticks").get().totalRuns() >= runs);
  }

  private static List<Instant> slots(Kagzi kagzi, String id) {
    return kagzi.list().queue("ticks").stream()
        .map(RunInfo::workflowId)
        .map(run -> run.orElseThrow().substring(("schedule:" + id + ":").length()))
        .map(Instant::parse)
        .sorted()
        .toList();
  }
}
