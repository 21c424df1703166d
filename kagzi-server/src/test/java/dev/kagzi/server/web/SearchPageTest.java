package dev.kagzi.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.server.TestServer;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A run is found without its namespace being known. */
@SuppressWarnings("NullAway.Init")
class SearchPageTest {
  private static final String SHOP = "shop <eu>";
  private static final String SHOP_QUERY = "?namespace=shop+%3Ceu%3E";

  private static TestServer server;
  private static TestBrowser browser;

  @BeforeAll
  static void start() {
    server = TestServer.start();
    browser = new TestBrowser(server);
    server
        .namespaces()
        .createNamespace(
            CreateNamespaceRequest.newBuilder().setNamespace(SHOP).setDisplayName("Shop").build());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String startRun(String namespace, String externalId) {
    return server
        .workflows()
        .startWorkflow(
            TestServer.start("orders", "order")
                .setNamespace(namespace)
                .setExternalId(externalId)
                .build())
        .getRunId();
  }

  private static HttpResponse<String> find(String text) throws Exception {
    return browser.load("/search?find=" + TestBrowser.encoded(text));
  }

  @Test
  void every_page_has_a_field_that_needs_no_script() throws Exception {
    for (String path : new String[] {"/", "/runs", "/queues", "/search"}) {
      assertThat(browser.load(path).body())
          .contains("<form method=\"get\" action=\"/search\"", "name=\"find\"");
    }
  }

  @Test
  void a_run_of_another_namespace_is_found_by_its_ids() throws Exception {
    String run = startRun(SHOP, "order-2001");

    for (String text :
        new String[] {
          run, "order-2001", " order-2001 ", "…" + run.substring(28), run.substring(28)
        }) {
      HttpResponse<String> reply = find(text);
      assertThat(reply.statusCode()).as(text).isEqualTo(303);
      assertThat(TestBrowser.location(reply)).endsWith("/runs/" + run + SHOP_QUERY);
    }
  }

  @Test
  void runs_of_several_namespaces_are_listed() throws Exception {
    String here = startRun("default", "order-7");
    String there = startRun(SHOP, "order-7");

    assertThat(find("order-7").body())
        .contains("href=\"/runs/" + here + "\"", "href=\"/runs/" + there + SHOP_QUERY + "\"")
        .contains("shop &lt;eu&gt;");
  }

  @Test
  void what_no_namespace_has_is_not_found() throws Exception {
    assertThat(find("<b>nothing</b>").body())
        .contains("No run of any namespace has the id &lt;b&gt;nothing&lt;/b&gt;.");
    assertThat(find("").body()).contains("Enter an id in the field at the top.");
    assertThat(find("x".repeat(5_000)).statusCode()).isEqualTo(400);
  }

  @Test
  void the_list_and_the_page_of_another_namespace_link_to_the_run() throws Exception {
    String run = startRun(SHOP, "order-2002");
    String link = "href=\"/runs/" + run + SHOP_QUERY + "\"";

    assertThat(browser.load("/runs?id=order-2002").body())
        .contains("No run of namespace default matches these filters.", link)
        .doesNotContain("No run matches");
    assertThat(browser.load("/runs?id=" + run.substring(28)).body()).contains(link);
    HttpResponse<String> page = browser.load("/runs/" + run);
    assertThat(page.statusCode()).isEqualTo(404);
    assertThat(page.body()).contains("The run is in another namespace", link);
    assertThat(browser.load("/runs/00000000-0000-7000-8000-000000000000").body())
        .doesNotContain("another namespace");
  }

  @Test
  void a_run_that_other_filters_exclude_is_linked() throws Exception {
    String run = startRun("default", "order-2003");

    assertThat(browser.load("/runs?id=order-2003&status=FAILED").body())
        .contains("matches these filters", "href=\"/runs/" + run + "\"");
  }

  @Test
  void the_external_id_is_a_link_in_the_list_and_a_title_on_the_page() throws Exception {
    String run = startRun("default", "order-<i>");

    assertThat(browser.load("/runs?id=order-%3Ci%3E").body())
        .contains("<a href=\"/runs/" + run + "\">order-&lt;i&gt;</a>");
    assertThat(browser.load("/runs/" + run).body())
        .contains("<title>order order-&lt;i&gt; · Kagzi</title>");
  }
}
