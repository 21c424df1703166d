package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Cancel, terminate, resume, retry and signals from the page of a run. */
@SuppressWarnings("try") // the workers work while they are open
class RunActionsPageTest extends BrowserTest {
  private static final WorkflowType<String, String> GREET =
      WorkflowType.of("greet", String.class, String.class).queue("greetings");
  private static final Signal<String> APPROVAL = Signal.of("approval", String.class);

  private static String path(RunHandle<?> run) {
    return "/runs/" + run.runId();
  }

  private static Locator bars(Page page, String style) {
    return page.locator("svg.timeline-picture rect.time-bar." + style);
  }

  private static Locator link(Page page, String name) {
    return page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  private static void press(Page page, String name) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true))
        .click();
  }

  @Test
  void a_run_is_cancelled_without_scripts() {
    RunHandle<String> run = kagzi.workflow(GREET.queue("nobody")).start("Ada");
    Page page = openWithoutScripts(Look.LIGHT_PHONE, path(run));

    page.getByText("Cancel…").click();
    press(page, "Cancel the run");

    assertThat(page.locator(".flash.done")).hasText("The run is cancelled.");
    assertThat(page.locator(".facts")).containsText("cancelled");
    org.assertj.core.api.Assertions.assertThat(run.status()).isEqualTo(RunStatus.CANCELLED);
  }

  @Test
  void a_run_is_terminated_with_a_reason_retried_once_and_resumed() {
    RunHandle<String> run = kagzi.workflow(GREET.queue("nobody")).id("t-1").start("Ada");
    Page page = open(Look.LIGHT_WIDE, path(run));
    page.getByText("Terminate…").click();
    page.getByLabel("Reason").fill("wrong <b>customer</b>");
    press(page, "Terminate the run");
    assertThat(page.locator(".failure")).containsText("terminated: wrong <b>customer</b>");

    page.getByText("Resume…").click();
    press(page, "Resume the run");
    assertThat(page.locator(".flash.error")).containsText("terminated");
    page.getByText("Resume…").click();
    page.getByRole(AriaRole.CHECKBOX).check();
    check(page, Look.LIGHT_WIDE, "run-actions");
    press(page, "Resume the run");
    assertThat(page.locator(".flash.done")).hasText("The run continues where it stopped.");

    run.cancel();
    page.reload();
    page.getByText("Retry…").click();
    press(page, "Start it again");
    assertThat(page.locator(".flash.done")).containsText("This new run retries run " + run.runId());
    assertThat(page.locator(".facts")).containsText("Retry of");
    String retry = page.locator("#run-id").innerText();
    page.locator(".facts a[title='" + run.runId() + "']").click();
    assertThat(page.locator(".facts")).containsText("Retried by");
    page.locator(".facts a[title='" + retry + "']").click();
    assertThat(page.locator("#run-id")).hasText(retry);
    kagzi.getByWorkflowId("t-1");
  }

  @TestInLooks
  void a_signal_is_sent_from_a_form_and_shown_with_the_step_that_received_it(Look look) {
    WorkflowType<String, String> type = GREET.queue("approvals " + look);
    try (Worker worker =
        kagzi
            .worker("approvals " + look)
            .workflow(type, (ctx, name) -> name + " by " + ctx.receive(APPROVAL))
            .start()) {
      RunHandle<String> run = kagzi.workflow(type).start("lamp");
      Awaitility.await().atMost(Orders.SOON).until(() -> run.status() == RunStatus.SLEEPING);
      Page page = open(look, path(run));
      assertThat(page.locator(".run-signals")).containsText("Waits for approval since");
      assertThat(page.locator(".why p > code").first())
          .hasText("kagzi workflow signal " + run.runId() + " approval --input JSON");
      assertThat(page.locator(".why")).not().containsText("`");
      assertThat(bars(page, "running")).hasCount(0);
      assertThat(bars(page, "waiting")).hasCount(1);
      assertThat(page.locator(".timeline-legend")).containsText("waits for a sleep, a signal");

      link(page, "Send a signal").click();
      assertThat(page.getByLabel("Name")).hasValue("approval");
      page.getByLabel("Value").fill("\"" + look);
      press(page, "Send the signal");
      assertThat(page.locator(".flash.error")).containsText("Not sent. payload: not JSON");
      assertThat(page.getByLabel("Value")).hasValue("\"" + look);
      check(page, look, "signals");
      page.getByLabel("Value").fill("\"<b>ann</b>\"");
      press(page, "Send the signal");

      assertThat(page.locator(".flash.done")).hasText("Sent signal approval.");
      org.assertj.core.api.Assertions.assertThat(run.result(Orders.SOON))
          .isEqualTo("lamp by <b>ann</b>");
      page.navigate(url(path(run)));
      assertThat(page.locator(".signals tbody tr")).containsText("received");
      assertThat(page.locator(".signals tbody tr")).containsText("\"<b>ann</b>\"");
      check(page, look, "run-signals");
      page.locator(".signals").getByRole(AriaRole.LINK).click();
      assertThat(page.locator("h1")).containsText("approval");
      expectErrors();
    }
  }

  @Test
  void a_signal_is_buffered_while_the_run_is_open_and_never_received_after_its_end() {
    RunHandle<String> run = kagzi.workflow(GREET.queue("nobody")).start("Ada");
    run.signal(APPROVAL, "x".repeat(20_000) + "end", "<i>id</i>");
    Page page = open(Look.LIGHT_WIDE, path(run));
    assertThat(page.locator(".signals tbody tr")).containsText("buffered");
    assertThat(page.locator(".signals")).not().containsText("xxxend");

    page.locator(".signals").getByRole(AriaRole.LINK).click();
    assertThat(page.locator("main")).containsText("xxxend");
    assertThat(page.locator(".facts")).containsText("<i>id</i>");
    Download file = page.waitForDownload(() -> link(page, "Download Value").click());
    org.assertj.core.api.Assertions.assertThat(file.suggestedFilename())
        .isEqualTo("signal-1-" + run.runId() + ".bin");
    run.cancel();
    page.navigate(url(path(run)));

    assertThat(page.locator(".signals tbody tr")).containsText("never received");
    page.navigate(url(path(run) + "/signals"));
    assertThat(page.locator("main")).containsText("The run has ended, so it accepts no signals.");
    assertThat(page.locator("main form")).hasCount(0);
  }
}
