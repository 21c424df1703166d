package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // the workers work while they are open
class StartPageTest extends BrowserTest {
  private static final Pattern RUN = Pattern.compile(".*/runs/([0-9a-f-]{36})");
  private static final WorkflowType<Order, String> PACK =
      WorkflowType.of("pack", Order.class, String.class).queue("parcels");

  record Order(String item, int count) {}

  private static Worker worker() {
    return kagzi
        .worker()
        .workflow(PACK, (ctx, order) -> order.count() + " " + order.item())
        .start();
  }

  /** Sends the form, and returns the run that the browser is sent to. */
  private RunHandle<String> send(Page page) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Start the run")).click();
    page.waitForURL(RUN);
    var matcher = RUN.matcher(page.url());
    assertThat(matcher.matches()).isTrue();
    return kagzi.run(matcher.group(1), PACK);
  }

  @TestInLooks
  void a_run_is_started_with_what_the_form_says(Look look) {
    try (Worker worker = worker()) {
      Page page = open(look, "/start");
      assertThat(page).hasTitle("Start a run · Kagzi");

      page.getByLabel("Type").fill("pack");
      page.getByLabel("Queue").fill("parcels");
      page.getByLabel("Input").fill("{\n  \"item\": \"<b>lamp</b>\",\n  \"count\": 2\n}");
      check(page, look, "start");

      RunHandle<String> run = send(page);

      assertThat(run.result()).isEqualTo("2 <b>lamp</b>");
    }
  }

  @TestInLooks
  void a_similar_run_gets_the_type_the_queue_and_the_input_of_another(Look look) {
    String id = kagzi.workflow(PACK).start(new Order("desk", 3)).runId();
    try (Worker worker = worker()) {
      Page page = open(look, "/start?from=" + id);

      assertThat(page.getByLabel("Type")).hasValue("pack");
      assertThat(page.getByLabel("Queue")).hasValue("parcels");
      check(page, look, "start-similar");
      RunHandle<String> run = send(page);

      assertThat(run.runId()).isNotEqualTo(id);
      assertThat(run.result()).isEqualTo("3 desk");
    }
  }

  @Test
  void a_run_is_started_without_scripts() {
    try (Worker worker = worker()) {
      Page page = openWithoutScripts(Look.LIGHT_WIDE, "/start?type=pack&queue=parcels");
      page.getByLabel("Input").fill("{\"item\": \"cup\", \"count\": 1}");

      assertThat(send(page).result()).isEqualTo("1 cup");
    }
  }

  @Test
  void a_refused_form_keeps_its_values_and_says_what_is_wrong() {
    Page page = open(Look.DARK_PHONE, "/start");
    page.getByLabel("Type").fill("pack");
    page.getByLabel("Queue").fill("parcels");
    page.getByLabel("Input").fill("{\"item\": lamp}");

    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Start the run")).click();

    assertThat(page.getByRole(AriaRole.ALERT)).containsText("not JSON at line 1, column");
    assertThat(page.getByLabel("Input")).hasValue("{\"item\": lamp}");
    assertThat(page.getByLabel("Input")).hasAttribute("aria-invalid", "true");
    assertThat(page.getByLabel("Type")).hasValue("pack");
    check(page, Look.DARK_PHONE, "start-refused");
    expectErrors();
  }
}
