"""One controller a page: it joins the page's widget with what the service says and takes."""
