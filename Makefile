.DEFAULT_GOAL := help
.PHONY: help test test-crash test-races test-skew lint deny advisories dist bench golden docs schema crds fuzz playground

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## Run all tests
	cargo test --workspace --locked
	cargo check --locked --quiet --no-default-features --lib
	cargo check --locked --quiet --package kubernetes-yaml

test-crash: ## Run the crash tests, which interrupt install, upgrade and delete at every request (half an hour)
	GOGC=400 TRANSSHIP_CRASH=1 cargo test --locked --test cluster -- --nocapture

test-races: ## Run fifty races of each kind between two commands that write (minutes)
	TRANSSHIP_RACES=1 cargo test --locked --test cluster -- --nocapture

test-skew: ## Run the storage payload and the hard cases with the oldest supported Kubernetes (minutes; builds it once)
	TRANSSHIP_SKEW=1 CI=true cargo test --locked --test cluster

lint: deny ## Check formatting, clippy with warnings denied, rustdoc and dependencies
	cargo fmt --all --check
	cargo clippy --workspace --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --locked --no-deps --quiet

deny: ## Check the licenses and sources of all dependencies, and that none is banned
	@command -v cargo-deny > /dev/null || cargo install --locked cargo-deny
	cargo deny check bans licenses sources

advisories: ## Look for known vulnerabilities in the dependencies (needs the advisory database from the network)
	@command -v cargo-deny > /dev/null || cargo install --locked cargo-deny
	cargo deny check advisories

dist: ## Build the binary for distribution: optimized as a whole, and without the paths of this machine
	RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=cargo --remap-path-prefix=$(CURDIR)=transship" \
		cargo build --locked --profile dist

bench: ## Compare the speed with kubectl and kustomize (takes minutes)
	cargo bench --locked --profile dist --bench comparison
	TRANSSHIP_BENCH=1 cargo test --locked --profile dist --quiet --test cluster

golden: ## Rewrite golden/ from payload/ and profiles/
	cargo run --locked --quiet -- golden update

docs: ## Rewrite the generated pages of docs/, and the output of the commands in README.md and docs/
	cargo test --locked --quiet --test render rewrite -- --ignored --test-threads=1

schema: ## Generate src/object/kubernetes.schema, the fields of Kubernetes' own kinds
	cd tests/tools && go run ./schema $$(go list -m -f '{{.Version}} {{.Dir}}' k8s.io/kubernetes)/api/openapi-spec/v3 > ../../src/object/kubernetes.schema

crds: ## Generate the CustomResourceDefinitions in payload/ from the modules that tests/tools/crds/go.mod pins
	cd tests/tools/crds && go run . ../../../payload

fuzz: ## Fuzz the readers of YAML, JSON, pages, patches, kubeconfigs, inventories and API responses for a minute each, and compare a million texts and 100,000 patches of each format with Kubernetes' Go code
	@command -v cargo-fuzz > /dev/null || cargo install --locked cargo-fuzz
	for folder in crates/kubernetes-yaml/fuzz fuzz; do \
		for target in $$(ls $$folder/corpus); do \
			( cd $$folder && mkdir -p new_corpus/$$target && \
			RUSTC_BOOTSTRAP=1 cargo fuzz run --sanitizer none $$target new_corpus/$$target corpus/$$target -- \
				-max_total_time=60 -timeout=5 -rss_limit_mb=1024 ) || exit 1; \
		done; \
	done
	TRANSSHIP_DIFFERENTIAL=1000000 cargo test --locked --package kubernetes-yaml --test differential
	TRANSSHIP_DIFFERENTIAL=1000000 cargo test --locked --test render -- differential::
	TRANSSHIP_DIFFERENTIAL=1000000 cargo test --locked --lib -- rights::differential
	TRANSSHIP_DIFFERENTIAL=100000 cargo test --locked --test differential

playground: ## Start two local clusters, and stop them on Ctrl-C
	TRANSSHIP_PLAYGROUND=1 cargo test --locked --quiet --test cluster
