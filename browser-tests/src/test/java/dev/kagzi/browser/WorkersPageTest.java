package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkerInfo;
import dev.kagzi.sdk.WorkflowType;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // the workers work while they are open
class WorkersPageTest extends BrowserTest {
  private static final WorkflowType<String, String> PAY =
      WorkflowType.of("pay", String.class, String.class);

  private static Worker worker(String queue, String host) {
    WorkflowType<String, String> type = PAY.queue(queue);
    return kagzi
        .worker(queue)
        .workflow(type, (ctx, input) -> input)
        .workflow(type.version("v2"), (ctx, input) -> input)
        .hostname(host)
        .maxConcurrent(10)
        .typeLimit(type, 4)
        .label("zone", "<b>north</b>")
        .version("1.4.2")
        .start();
  }

  /** Returns the worker of a queue that only one worker has, as soon as it has registered. */
  private static WorkerInfo info(String queue) {
    return Awaitility.await()
        .until(
            () ->
                kagzi.admin().workers().filter(worker -> worker.queue().equals(queue)).findFirst(),
            Optional::isPresent)
        .orElseThrow();
  }

  private static void press(Page page, String button) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(button).setExact(true))
        .click();
  }

  @TestInLooks
  void the_list_shows_state_load_and_versions(Look look) {
    try (Worker worker = worker("listed", "node-7<i>")) {
      Page page = open(look, "/workers?queue=listed&status=ONLINE");

      Locator row = page.getByRole(AriaRole.ROW, new Page.GetByRoleOptions().setName("node-7<i>"));
      assertThat(row).containsText("online");
      assertThat(row).containsText("0 of 10");
      assertThat(row).containsText("pay v2");
      assertThat(row).containsText("1.4.2");
      check(page, look, "workers");
    }
  }

  @TestInLooks
  void one_worker_shows_its_labels_limits_and_events(Look look) {
    try (Worker worker = worker("one " + look, "node-1")) {
      Page page = open(look, "/workers/" + info("one " + look).workerId());

      assertThat(page.getByText("<b>north</b>")).isVisible();
      assertThat(page.getByRole(AriaRole.ROW, new Page.GetByRoleOptions().setName("pay v2")))
          .containsText("4");
      assertThat(
              page.getByRole(
                  AriaRole.ROW, new Page.GetByRoleOptions().setName("online registered")))
          .containsText("online");
      press(page, "Force offline");
      check(page, look, "worker");
    }
  }

  @Test
  void one_worker_lists_the_runs_that_it_executes() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    WorkflowType<String, String> type = PAY.queue("executing");
    try (Worker worker =
            kagzi
                .worker("executing")
                .workflow(
                    type,
                    (ctx, input) -> {
                      ctx.step("<i>charge", end::await);
                      return input;
                    })
                .start();
        // Before the worker, whose close waits for its steps.
        AutoCloseable release = end::countDown) {
      Page page = open(Look.DARK_PHONE, "/workers/" + info("executing").workerId());
      assertThat(page.getByText("It executes no run.")).isVisible();

      RunHandle<String> run = kagzi.workflow(type).id("order-<b>1").start("lamp");

      Locator rows =
          page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName("Executes now"))
              .locator("tbody tr");
      assertThat(rows).containsText("…" + run.runId().substring(28));
      assertThat(rows).containsText("order-<b>1");
      assertThat(rows).containsText("<i>charge");
      check(page, Look.DARK_PHONE, "worker-executing");
      page.getByText("All runs that it executes").click();
      assertThat(page.locator("tbody tr")).hasCount(1);
      assertThat(page.locator("tbody tr")).containsText("order-<b>1");
    }
  }

  @Test
  void a_worker_is_drained_after_a_question() {
    try (Worker worker = worker("drained", "node-2")) {
      Page page = openWithoutScripts(Look.LIGHT_WIDE, "/workers/" + info("drained").workerId());

      page.getByText("Drain", new Page.GetByTextOptions().setExact(true)).click();
      assertThat(page.getByText("Drain worker node-2")).isVisible();
      press(page, "Drain it");

      assertThat(page.getByText("The worker takes no new runs")).isVisible();
      Awaitility.await().until(() -> info("drained").status() != WorkerInfo.Status.ONLINE);
    }
  }

  @Test
  void a_worker_that_is_forced_offline_loses_its_runs_and_the_reason_is_shown() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    WorkflowType<String, String> stuck = PAY.queue("forced");
    try (Worker worker =
            kagzi
                .worker("forced")
                .hostname("node-3")
                .workflow(
                    stuck,
                    (ctx, input) ->
                        ctx.step(
                            "hang",
                            String.class,
                            () -> {
                              started.countDown();
                              end.await();
                              return input;
                            }))
                .start();
        // Before the worker, whose close waits for its steps.
        AutoCloseable release = end::countDown) {
      kagzi.workflow(stuck).start("lamp");
      Awaitility.await().until(() -> started.getCount() == 0);
      String id = info("forced").workerId();
      Page page = open(Look.LIGHT_WIDE, "/workers/" + id);

      press(page, "Force offline");
      assertThat(page.getByText("a step that it executes now may be executed twice")).isVisible();
      page.getByLabel("Reason").fill("<u>hangs</u>");
      press(page, "Force it offline");

      assertThat(page.getByText("Other workers continue its runs: 1.")).isVisible();
      assertThat(page.getByText("<u>hangs</u>")).isVisible();
      assertThat(kagzi.admin().workers())
          .anyMatch(one -> one.workerId().equals(id) && one.status() == WorkerInfo.Status.OFFLINE);
    }
  }
}
