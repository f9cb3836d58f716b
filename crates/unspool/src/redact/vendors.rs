//! Patterns of secrets with an unmistakable format, one row per issuer or group
//! of issuers.

use super::guess;
use super::shapes::{PRIVATE_KEY, Shape, shape};

const fn key(pattern: &'static str) -> Shape {
    Shape {
        kind: Some(PRIVATE_KEY),
        pattern,
        needs: &["PRIVATE KEY"],
        check: guess::is_private_key,
    }
}

/// Secrets with an unmistakable format.
pub(super) const SHAPES: &[Shape] = &[
    // Diffs have a sign before each line; JSON text has `\n` for newlines.
    key(
        r"(?s)(?P<s>-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)",
    ),
    // The end is missing in truncated output.
    key(
        r"(?P<s>-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[ \t\r\n+-]|\\n|[A-Za-z0-9+/=]{16,})*)",
    ),
    // The same in base64, as in Kubernetes manifests.
    shape(
        PRIVATE_KEY,
        r"(?-u)(?P<s>\bLS0tLS1CRUdJTiB(?:QUklWQVRF|SU0Eg|FQyBQ|EU0Eg|PUEVOU1NI|FTkNSWVBURUQg)[A-Za-z0-9+/=]{20,})",
    ),
    shape("Anthropic key", r"(?-u)(?P<s>\bsk-ant-[A-Za-z0-9_-]{16,})"),
    shape(
        "OpenAI key",
        r"(?-u)(?P<s>\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,})",
    ),
    shape(
        "GitHub token",
        r"(?-u)(?P<s>\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}))",
    ),
    shape(
        "GitLab token",
        r"(?-u)(?P<s>\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent)-[A-Za-z0-9_.-]{16,})",
    ),
    shape(
        "AWS key",
        r"(?-u)(?P<s>\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b)",
    ),
    shape(
        "Google key",
        r"(?-u)(?P<s>\bAIza[A-Za-z0-9_-]{30,}|\bGOCSPX-[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_-]{20,}|\b1//0[A-Za-z0-9_-]{30,})",
    ),
    shape(
        "Slack token",
        r"(?-u)(?P<s>\bxox[abeoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|\bxapp-[0-9]-[A-Za-z0-9-]{10,})",
    ),
    shape(
        "webhook",
        r"(?-u)https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks|[a-z0-9.-]+\.webhook\.office\.com)/(?P<s>[A-Za-z0-9@/_-]{10,})",
    ),
    shape(
        "Stripe key",
        r"(?-u)(?P<s>\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,})",
    ),
    shape("npm token", r"(?-u)(?P<s>\bnpm_[A-Za-z0-9]{30,})"),
    shape("PyPI token", r"(?-u)(?P<s>\bpypi-[A-Za-z0-9_-]{30,})"),
    shape("crates.io token", r"(?-u)(?P<s>\bcio[A-Za-z0-9]{32}\b)"),
    shape("Hugging Face token", r"(?-u)(?P<s>\bhf_[A-Za-z0-9]{30,})"),
    // DigitalOcean, Shopify, Square, Databricks, Linear, Notion, Sentry,
    // Grafana, Replicate, Groq, xAI, Perplexity, Fireworks, Vercel.
    shape(
        "token",
        r"(?-u)(?P<s>\b(?:do[opr]_v1_[a-f0-9]{40,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|dapi[a-f0-9]{32}|lin_(?:api|oauth)_[A-Za-z0-9]{32,}|(?:secret|ntn)_[A-Za-z0-9]{40,}|sntry[su]_[A-Za-z0-9+/=_-]{40,}|gl(?:c|sa)_[A-Za-z0-9+/=_]{32,}|r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|fw_[A-Za-z0-9]{20,}|vc[pkiar]_[A-Za-z0-9]{24,}))",
    ),
    // Doppler, HashiCorp, Docker, PlanetScale, Supabase, Postman, Fly, age,
    // Atlassian, Bitbucket, New Relic, Airtable, Figma, Heroku, Mailgun, Brevo.
    shape(
        "token",
        r"(?-u)(?P<s>\b(?:dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{40,}|hv[sbr]\.[A-Za-z0-9_-]{24,}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{24,}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}|sb[ps]_[a-z0-9]{40}|sb_secret_[A-Za-z0-9_]{20,}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|fo1_[A-Za-z0-9_-]{40,}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,}={0,3}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|ATATT3[A-Za-z0-9_=-]{40,}|ATCTT3[A-Za-z0-9_=-]{40,}|ATBB[A-Za-z0-9]{24,}|NR(?:AK|JS|II|RA)-[A-Za-z0-9-]{19,}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|figd_[A-Za-z0-9_-]{30,}|HRKU-[A-Za-z0-9_-]{36,}|key-[a-f0-9]{32}\b|xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|xsmtpsib-[a-f0-9]{64}-[A-Za-z0-9]{16}))",
    ),
    // 1Password, Adobe, Alibaba, Artifactory, AWS Bedrock, Cloudflare, Clojars,
    // Duffel, Dynatrace, EasyPost, Flutterwave, Frame.io, GitLab, Infracost.
    shape(
        "token",
        r"(?-u)(?P<s>\b(?:ops_eyJ[A-Za-z0-9+/=]{100,}|A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}-(?:[A-Z0-9]{5}-){2,3}[A-Z0-9]{5}\b|p8e-[A-Za-z0-9]{32}\b|LTAI[A-Za-z0-9]{16,24}\b|AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{59}\b|ABSK[A-Za-z0-9+/]{60,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{30,}|v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}|CLOJARS_[A-Za-z0-9]{60}\b|duffel_(?:test|live)_[A-Za-z0-9_=-]{40,}|dt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}|EZ[AT]K[A-Za-z0-9]{54}\b|FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,32}(?:-X)?|fio-u-[A-Za-z0-9_=-]{60,}|GR1348941[A-Za-z0-9_-]{20}|glffct-[A-Za-z0-9_-]{20,}|gloas-[A-Za-z0-9_-]{60,}|_gitlab_session=[0-9a-z]{32}|ico-[A-Za-z0-9]{32}\b))",
    ),
    // Octopus, OpenShift, Plaid, Prefect, Pulumi, ReadMe, RubyGems, Scalingo,
    // SettleMint, Shippo, Tailscale, Netlify, LangSmith, Pinecone, Buildkite,
    // Sourcegraph, Razorpay, Contentful, LaunchDarkly, CircleCI, Typeform.
    shape(
        "token",
        r"(?-u)(?P<s>\b(?:API-[A-Z0-9]{26}\b|sha256~[A-Za-z0-9_-]{43}|access-(?:sandbox|development|production)-[a-f0-9-]{36}|pn[ub]_[A-Za-z0-9]{36}\b|pul-[a-f0-9]{40}\b|rdme_[a-z0-9]{70}\b|rubygems_[a-f0-9]{48}\b|tk-us-[A-Za-z0-9_-]{48}|sm_[aps]at_[A-Za-z0-9]{16}\b|shippo_(?:live|test)_[A-Fa-f0-9]{40}\b|tskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}|nf[pcoub]_[A-Za-z0-9]{36,}|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|pcsk_[A-Za-z0-9]{4,}_[A-Za-z0-9]{40,}|bk[a-z]{1,2}_[a-f0-9]{40}\b|sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}\b|rzp_(?:live|test)_[A-Za-z0-9]{14,}|CFPAT-[A-Za-z0-9_-]{40,}|(?:sdk|api|mob)-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}\b|CCI(?:PAT|PRJ)_[A-Za-z0-9_]{20,}|tfp_[A-Za-z0-9_-]{40,}))",
    ),
    // Facebook, Square. Zeros in base64 are many letters A.
    Shape {
        kind: Some("token"),
        pattern: r"(?-u)(?P<s>\bEAA[A-Z][A-Za-z0-9_-]{60,})",
        needs: &["EAA"],
        check: |found| {
            found
                .name("s")
                .is_some_and(|s| guess::entropy(s.as_str()) >= 4.6)
        },
    },
    // Dropbox, Mapbox, PayPal, Twilio, Firebase, Cohere and others
    // with their own prefixes; Weights & Biases has none.
    shape(
        "token",
        r"(?-u)(?P<s>\b(?:sl\.[A-Za-z0-9_=-]{60,}|[sp]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}|access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32}|AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{60,}|oy2[a-z0-9]{43}\b|jina_[A-Za-z0-9_-]{40,}|tvly-[A-Za-z0-9_-]{20,}|fc-[a-f0-9]{32}\b|nvapi-[A-Za-z0-9_-]{40,}|csk-[a-z0-9]{40,}|voyage_[A-Za-z0-9_-]{30,}|pa-[A-Za-z0-9_-]{43}\b|sk_[a-f0-9]{48}\b|apify_api_[A-Za-z0-9]{30,}|dd[ap]_[A-Za-z0-9]{30,}|phc_[A-Za-z0-9]{40,}|phx_[A-Za-z0-9]{40,}|hapi-[a-f0-9-]{36}|patch_[a-f0-9]{40}|snyk_[a-z]+_[A-Za-z0-9]{20,}|sonar_[A-Za-z0-9]{30,}|sq[apu]_[a-f0-9]{40}\b|gho?st_[A-Za-z0-9]{30,}|amzn\.mws\.[a-f0-9-]{36}))",
    ),
    Shape {
        kind: Some("Azure secret"),
        pattern: r"(?-u)(?P<s>\b[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})",
        needs: &["Q~"],
        check: |_| true,
    },
    Shape {
        kind: Some("token"),
        // Mailchimp
        pattern: r"(?-u)(?P<s>\b[a-f0-9]{32}-us[0-9]{1,2}\b)",
        needs: &["-us"],
        check: |_| true,
    },
    Shape {
        kind: Some("Terraform token"),
        pattern: r"(?-u)(?P<s>\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,})",
        needs: &[".atlasv1."],
        check: |_| true,
    },
    shape(
        "SendGrid key",
        r"(?-u)(?P<s>\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
    ),
    shape(
        "Telegram token",
        r"(?-u)(?P<s>\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b)",
    ),
    shape(
        "Discord token",
        r"(?-u)(?P<s>\b(?:[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}|mfa\.[A-Za-z0-9_-]{80,}))",
    ),
    shape(
        "password hash",
        r"(?-u)(?P<s>\$(?:2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}|[156y]\$[A-Za-z0-9./=,+-]{1,40}\$(?:[A-Za-z0-9./=,+-]{1,40}\$)?[./A-Za-z0-9]{22,86}))",
    ),
    shape(
        "web token",
        r"(?-u)(?P<s>\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)",
    ),
];
