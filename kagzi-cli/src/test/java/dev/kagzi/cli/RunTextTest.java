package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.Workflow;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunTextTest {

  @Test
  void crashes_are_shown_while_there_are_any() {
    Workflow run = Workflow.newBuilder().setRunId("r").setAttempts(1).setCrashes(2).build();

    assertThat(RunText.details(run, List.of(), "", List.of()).lines())
        .anyMatch(line -> line.matches("crashes +2"));
  }
}
