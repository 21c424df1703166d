package dev.kagzi.embedded;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What the application's class loader loads, and what the server's does. */
@AnalyzeClasses(
    packages = "dev.kagzi.embedded",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule the_side_of_the_application_knows_no_library =
      classes()
          .that()
          .resideInAPackage("dev.kagzi.embedded")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("java..", "org.jspecify..", "dev.kagzi.embedded");

  @ArchTest
  static final ArchRule only_public_packages_of_the_engine_are_used =
      noClasses().should().dependOnClassesThat().resideInAPackage("dev.kagzi.engine.internal..");
}
